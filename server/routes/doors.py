"""The routes of other protocols and of Langflow servers. A server imports each of them when a client first uses it."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from starlette.routing import Route

from server.requests.deferred import Deferred


def _agui() -> ModuleType:
    from server.agui import endpoint

    return endpoint


def _chat() -> ModuleType:
    from server.routes.aisdk import chat

    return chat


def _mcp() -> ModuleType:
    from server.mcp.transports import endpoint

    return endpoint


def _connections() -> ModuleType:
    from server.routes.langflow import connections

    return connections


def _links() -> ModuleType:
    from server.routes.langflow import links

    return links


CHAT: Final = "/api/chat"
MCP: Final = "/mcp"
MCP_METHODS: Final = ("GET", "POST", "DELETE")
LANGFLOW: Final = "/api/v1/langflow"
LINK: Final = "/api/v1/flows/{flow_id}/langflow"

routes = [
    Route(CHAT, Deferred(_chat, "chat"), methods=["POST"]),
    Route(f"{CHAT}/{{chat:path}}/stream", Deferred(_chat, "resume"), methods=["GET"]),
    Route("/ag-ui", Deferred(_agui, "run"), methods=["POST"]),
    Route(MCP, Deferred(_mcp, "mcp"), methods=MCP_METHODS),
    Route(f"{MCP}/{{group}}", Deferred(_mcp, "mcp"), methods=MCP_METHODS),
]

langflow_routes = [
    Route(LANGFLOW, Deferred(_connections, "AllConnections")),
    Route(f"{LANGFLOW}/{{name}}", Deferred(_connections, "OneConnection")),
    Route(f"{LANGFLOW}/{{name}}/flows", Deferred(_connections, "FlowsOfConnection")),
    Route(LINK, Deferred(_links, "OneLink")),
    Route(f"{LINK}/read", Deferred(_links, "Reading")),
    Route(f"{LINK}/send", Deferred(_links, "Sending")),
]
