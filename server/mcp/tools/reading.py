"""Looking at stored flows: their graph, their text, their components and the values of fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from flows.describe.diagrams import ascii_graph, mermaid_graph
from flows.describe.summary import canvas_summary
from flows.document import Flow, Node
from flows.edits.references import find_component
from flows.fields.secrets import shown_value
from flows.json_values import Json
from flows.spec import to_spec
from server.mcp.answers import Answer, ComponentFields, FlowAnswer, FlowRef, shortened
from server.mcp.bench import desk_of
from server.mcp.call import Call, fail
from server.mcp.tools.flows import OneFlow
from server.mcp.tools.tool import Tool, agent_description, agent_schema, flow_id_of, own_tool
from tools.replies import value_text

SUMMARY: int = 8_000
"""Characters of a summary."""


async def _read(call: Call, flow_id: str) -> tuple[Flow, FlowRef]:
    stored = await (await call.caller.flows()).get(flow_id)
    return stored.flow, FlowRef.of(stored.entry)


def _whole(entry: FlowRef) -> str:
    return f"get_flow_text_representation and {entry.uri} have the whole flow."


async def visualize_flow_graph(call: Call, asked: OneFlow) -> FlowAnswer:
    """Draw a flow's components and connections as a Mermaid flowchart, and with characters."""
    flow, entry = await _read(call, asked.flow_id)
    text = f"```mermaid\n{mermaid_graph(flow)}\n```\n\n{ascii_graph(flow)}"
    return FlowAnswer(text=shortened(text, _whole(entry)), flow=entry)


async def get_flow_ascii_diagram(call: Call, asked: OneFlow) -> FlowAnswer:
    """Draw a flow's components and connections with characters."""
    flow, entry = await _read(call, asked.flow_id)
    return FlowAnswer(text=shortened(ascii_graph(flow), _whole(entry)), flow=entry)


async def get_flow_text_representation(call: Call, asked: OneFlow) -> FlowAnswer:
    """Read a flow as spec text, in which create_flow_from_spec and edit_flow take flows. Secrets are left out."""
    flow, entry = await _read(call, asked.flow_id)
    return FlowAnswer(text=to_spec(flow, await call.caller.assistant.catalogue()), flow=entry)


async def get_flow_structure_summary(call: Call, asked: OneFlow) -> FlowAnswer:
    """Read what a flow consists of: its components, their texts, their connections, and what goes in and out."""
    async with desk_of(call, asked.flow_id) as desk:
        flow, ports = desk.bench.flow, await desk.use("describe_flow_io", {})
        summary = canvas_summary(flow, SUMMARY, desk.bench.catalogue, SUMMARY)
        return FlowAnswer(text=shortened(f"{summary}\n{ports}", _whole(desk.entry)), flow=desk.entry)


class OneComponent(OneFlow):
    """Names a component in a flow."""

    component_id: str = Field(min_length=1, max_length=200, description="The component's id in the flow.")


async def get_flow_component_details(call: Call, asked: OneComponent) -> ComponentFields:
    """Read a component in a flow: its type, its connections, its outputs and the values of its fields."""
    flow, entry = await _read(call, asked.flow_id)
    node = _component(flow, asked.component_id)
    fields = _fields(node)
    edges = [edge.text for edge in flow.edges if node.id in (edge.source, edge.target)]
    outputs = ", ".join(str(output.get("name")) for output in node.outputs)
    lines = [
        f"{node.id}: {node.type}, called {node.display_name!r}",
        f"outputs: {outputs or 'none'}",
        f"connections: {'; '.join(edges) or 'none'}",
        *(f"{name}: {value_text(value)}" for name, value in fields.items()),
    ]
    return ComponentFields(text="\n".join(lines), flow=entry, component=node.id, fields=fields)


async def list_flow_component_fields(call: Call, asked: OneComponent) -> ComponentFields:
    """List the fields of a component in a flow: their types, whether they are shown, and their options."""
    flow, entry = await _read(call, asked.flow_id)
    node = _component(flow, asked.component_id)
    lines = [_field_line(name, field) for name, field in node.template.items() if name != "code"]
    fields = {name: value for name, value in _fields(node).items() if name != "code"}
    return ComponentFields(text="\n".join(lines), flow=entry, component=node.id, fields=fields)


async def _field_value(call: Call, given: Mapping[str, Any]) -> Answer:
    flow_id, rest = flow_id_of(given)
    if "field_name" in rest:
        rest["field"] = rest.pop("field_name")
    async with desk_of(call, flow_id) as desk:
        return FlowAnswer(text=await desk.use("get_field_value", rest), flow=desk.entry)


def _component(flow: Flow, component_id: str) -> Node:
    node = find_component(flow, component_id, None)
    if node is None:
        known = ", ".join(one.id for one in flow.components) or "none"
        fail(f"There is no component {component_id!r} in this flow. Its components: {known}.", "unknown_component")
    return node


def _fields(node: Node) -> dict[str, Json]:
    """The values of a component's fields that are set; secrets are redacted."""
    shown = {name: shown_value(field) for name, field in node.template.items() if name != "code"}
    return {name: value for name, value in shown.items() if value not in (None, "", [], {})}


def _field_line(name: str, field: Mapping[str, Json]) -> str:
    options = field.get("options")
    parts = [str(field.get("type") or "str")]
    parts += ["hidden"] if field.get("show") is False else []
    parts += ["advanced"] if field.get("advanced") is True else []
    parts += ["required"] if field.get("required") is True else []
    parts += [f"one of {json.dumps(options[:20], ensure_ascii=False)}"] if isinstance(options, list) and options else []
    return f"{name}: {', '.join(parts)}"


def reading_tools() -> list[Tool]:
    """The tools."""
    field_value = Tool(
        name="get_flow_component_field_value",
        description=agent_description("get_field_value").replace("on the canvas", "in the flow"),
        group=("system", "canvas"),
        scope="read",
        touch="reads",
        takes=_field_schema(),
        gives=FlowAnswer,
        act=_field_value,
    )
    return [
        own_tool(visualize_flow_graph, OneFlow, FlowAnswer, group="system"),
        own_tool(get_flow_ascii_diagram, OneFlow, FlowAnswer, group="system"),
        own_tool(get_flow_text_representation, OneFlow, FlowAnswer, group=("system", "canvas")),
        own_tool(get_flow_structure_summary, OneFlow, FlowAnswer, group=("system", "canvas")),
        own_tool(get_flow_component_details, OneComponent, ComponentFields, group=("system", "canvas")),
        own_tool(list_flow_component_fields, OneComponent, ComponentFields, group="system"),
        field_value,
    ]


def _field_schema() -> dict[str, Any]:
    schema = agent_schema("get_field_value", of_flow=True)
    properties = dict(schema["properties"])
    properties["field_name"] = properties.pop("field")
    required = ["field_name" if name == "field" else name for name in schema["required"]]
    return {**schema, "properties": properties, "required": required}
