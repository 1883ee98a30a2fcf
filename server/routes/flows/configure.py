"""What new values make of a component: a template's variables become ports, and options show fields. Stores nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import ContractModel, Received
from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from flows.edits.result import EditError
from flows.edits.tool_mode import with_tool_mode
from flows.fields.assignment import settings
from flows.json_values import as_object
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import flow_of, read_object
from server.requests.operation import operation
from server.routes.flows.stale import known_components


class ConfigureRequest(ContractModel):
    """New values for a component.

    Attributes:
        node: the component as it is, as in a flow's document.
        values: values by field name.
        tool_mode: whether the component is a tool from now on; null leaves that as it is.
    """

    node: dict[str, Any]
    values: dict[str, Any] = Field(default_factory=dict)
    tool_mode: bool | None = None


class ConfiguredNode(Received):
    """A component with new values.

    Attributes:
        node: the component with all that the values change in it.
        warnings: what the user should know about the values.
    """

    node: dict[str, Any]
    warnings: list[str]


@operation(ConfiguredNode, body=ConfigureRequest)
async def configure(request: Request) -> Response:
    """What a component becomes with new values; nothing is stored."""
    caller = caller_of(request)
    document = await read_object(request, caller.settings.body_limit)
    tool_mode = document.get("tool_mode")
    if tool_mode is not None and not isinstance(tool_mode, bool):
        raise ApiError(422, "invalid_request", "tool_mode is not true or false.", "Send true or false.", "$.tool_mode")
    flow = flow_of({"name": "", "data": {"nodes": [document.get("node")], "edges": []}})
    values = as_object(document.get("values"))
    catalogue = await known_components(caller)
    return JsonResponse(await asyncio.to_thread(_configured, flow, values, catalogue, tool_mode=tool_mode))


def _configured(flow: Flow, values: JsonObject, catalogue: Catalogue, *, tool_mode: bool | None) -> JsonObject:
    [node] = flow.components or (None,)
    if node is None:
        raise ApiError(422, "invalid_request", "node is not a component.", "Send a node of a flow.", "$.node")
    outcome = settings(node, values, catalogue.get(node.type))
    try:
        if outcome.faults:
            raise EditError(*outcome.faults)
        made = outcome.node if tool_mode is None else with_tool_mode(outcome.node, catalogue, enabled=tool_mode)
    except EditError as error:
        [first, *_] = error.faults
        raise ApiError(422, first.code, first.message, first.fix, f"$.values.{first.field}") from None
    return {"node": made.raw, "warnings": [fault.message for fault in outcome.warnings]}


routes = [Route("/api/v1/components/configure", configure, methods=["POST"])]
