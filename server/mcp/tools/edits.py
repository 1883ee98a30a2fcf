"""Editing stored flows step by step with the assistant's own tools, and what of it the seeds name otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from flows.fields.keys import json_without_keys
from flows.json_values import copy_json
from server.mcp.answers import Answer, FlowAnswer
from server.mcp.bench import desk_of
from server.mcp.call import Call, fail
from server.mcp.tools.tool import Act, Tool, Touch, agent_description, agent_schema, flow_id_of

EDITS: Final[Mapping[str, Touch]] = {
    "add_component": "adds",
    "insert_component": "changes",
    "connect_components": "changes",
    "disconnect_components": "changes",
    "configure_component": "changes",
    "rename_component": "changes",
    "duplicate_component": "adds",
    "replace_component": "changes",
    "remove_component": "changes",
    "edit_flow": "changes",
}
"""The tools that change a flow."""

NO_KEYS: Final = (
    "An argument holds what looks like a key or a password; nothing was done. Keys do not belong into flows: have the "
    "user keep it (`wirewright variables set NAME`, or PUT /api/v1/variables/NAME), and set the field to NAME."
)


def refuse_keys(given: Mapping[str, Any]) -> None:
    """Return when no argument holds a key.

    Raises:
        ToolFailed: one does.
    """
    document = copy_json(dict(given))
    if json_without_keys(document) != document:
        fail(NO_KEYS, "key_in_arguments")


def _edits(name: str) -> Act:
    async def act(call: Call, given: Mapping[str, Any]) -> Answer:
        flow_id, arguments = flow_id_of(given)
        refuse_keys(arguments)
        async with desk_of(call, flow_id) as desk:
            text = await desk.use(name, arguments)
            return FlowAnswer(text=text, flow=await desk.save())

    return act


def _edit_tool(name: str, touch: Touch) -> Tool:
    return Tool(
        name=name,
        description=agent_description(name).replace("on the canvas", "in the flow").replace("the canvas", "the flow"),
        group=("canvas",),
        scope="build",
        touch=touch,
        takes=agent_schema(name, of_flow=True),
        gives=FlowAnswer,
        act=_edits(name),
    )


async def _update_field(call: Call, given: Mapping[str, Any]) -> Answer:
    flow_id, rest = flow_id_of(given)
    component, field = rest.pop("component_id", None), rest.pop("field_name", None)
    if not isinstance(component, str) or not isinstance(field, str) or set(rest) != {"new_value"}:
        fail(
            "The arguments are wrong; nothing was done. It takes flow_id, component_id, field_name and new_value.",
            "invalid_arguments",
        )
    values = {field: rest["new_value"]}
    return await _edits("configure_component")(call, {"flow_id": flow_id, "component_id": component, "values": values})


def edit_tools() -> list[Tool]:
    """The tools."""
    configure = _edit_tool("configure_component", "changes")
    update = replace(
        configure,
        name="update_flow_component_field",
        description="Set one field of a component in a flow.",
        group=("system",),
        takes={
            "type": "object",
            "additionalProperties": False,
            "required": ["flow_id", "component_id", "field_name", "new_value"],
            "properties": {
                "flow_id": agent_schema("check_flow", of_flow=True)["properties"]["flow_id"],
                "component_id": {"type": "string", "description": "The component's id in the flow."},
                "field_name": {"type": "string", "description": "The field."},
                "new_value": {"description": "The new value."},
            },
        },
        act=_update_field,
    )
    return [*(_edit_tool(name, touch) for name, touch in EDITS.items()), update]
