"""MCP over standard input and output, for one client that starts the process and ends it by closing the input."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server

from agent.assistant import Assistant
from runtime.accounts.user import LOCAL
from server.access.caller import Caller
from server.drain import Drain
from server.mcp.consent.baselines import Baselines
from server.mcp.consent.waiting import WaitingCalls
from server.mcp.protocol import McpServer
from server.mcp.subscriptions import Subscriptions
from server.mcp.visitor import Visitor
from server.readiness import DatabaseProbe
from server.settings import ServerSettings
from server.state import ServerState
from server.streams.running import RunningTurns
from tools.mandate import Mandate

if TYPE_CHECKING:
    from server.mcp.tools.tool import Group


def local_state(assistant: Assistant, settings: ServerSettings) -> ServerState:
    """What a process shares that serves nobody but the first user.

    Args:
        assistant: runs flows, and has the stores.
        settings: the limits, as a server has them.
    """
    stopping = asyncio.Event()
    turns = RunningTurns(assistant.database, stopping, grace=0.0, kept=settings.turn_events_kept, data=settings.data)
    return ServerState(settings, assistant, stopping, Drain(), DatabaseProbe(assistant.database), turns)


async def serve_stdio(settings: ServerSettings, group: Group | None, mandate: Mandate) -> None:
    """Serve until the input ends.

    Args:
        settings: the settings.
        group: which of the two servers; None for both in one.
        mandate: what the client's configuration allows.
    """
    async with Assistant.open(settings) as assistant:
        state = local_state(assistant, settings)
        visitor = Visitor(Caller(state, LOCAL), "stdio", mandate)

        def visitor_of(_: ServerRequestContext[Any, Any]) -> Visitor:
            return visitor

        subscriptions = Subscriptions(state.flow_changes)
        baselines, waiting = Baselines(assistant.database), WaitingCalls(assistant.database)
        server = McpServer(group, visitor_of, subscriptions, baselines, waiting).server
        try:
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())
        finally:
            subscriptions.close()
            await state.flow_changes.aclose()
