"""Variations: right flows as somebody else might leave them. The harness must pass every one of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from flows.catalogue import Catalogue
from flows.document import Flow, Node
from flows.edits import EditError
from flows.edits.basic import add_component, connect, disconnect
from flows.json_values import Json, as_object

PASSED_ON = "{text}"
"""A template that gives what it gets."""
_MOVED = 240.0
"""How far components are moved, in pixels."""


def other_ids(flow: Flow, canvas: Flow, catalogue: Catalogue) -> Flow | None:
    """New components have other ids."""
    del catalogue
    text = json.dumps(flow.to_json(), ensure_ascii=False)
    for number, node in enumerate(_new(flow, canvas)):
        text = text.replace(node.id, f"{node.type}-o{number}th")
    return Flow.from_json(json.loads(text))


def other_places(flow: Flow, canvas: Flow, catalogue: Catalogue) -> Flow | None:
    """New components stand elsewhere, if all are new: on a canvas they might stand on others."""
    del catalogue
    if not canvas.is_empty:
        return None
    nodes: list[Json] = []
    for number, node in enumerate(flow.nodes):
        place = as_object(node.raw.get("position"))
        down = _MOVED * (number % 3 + 1)
        nodes.append({**node.raw, "position": {**place, "y": _number(place.get("y")) + down}})
    return flow.with_parts(nodes=nodes)


def other_order(flow: Flow, canvas: Flow, catalogue: Catalogue) -> Flow | None:
    """Components and connections are listed the other way round, if all are new."""
    del catalogue
    if not canvas.is_empty:
        return None
    nodes: list[Json] = [node.raw for node in reversed(flow.nodes)]
    edges: list[Json] = [edge.raw for edge in reversed(flow.edges)]
    return flow.with_parts(nodes=nodes, edges=edges)


def other_names(flow: Flow, canvas: Flow, catalogue: Catalogue) -> Flow | None:
    """New components have names and descriptions of their own, if all are new."""
    del catalogue
    if not canvas.is_empty:
        return None
    nodes: list[Json] = []
    for number, node in enumerate(flow.nodes, start=1):
        data = as_object(node.raw.get("data"))
        named = {**as_object(data.get("node")), "display_name": f"Step {number}", "description": "As it was asked for."}
        nodes.append({**node.raw, "data": {**data, "node": named}})
    return flow.with_parts(nodes=nodes)


def one_step_more(flow: Flow, canvas: Flow, catalogue: Catalogue) -> Flow | None:
    """A new flow passes what is typed through a template that changes nothing."""
    typed = [node for node in flow.components if node.type == "ChatInput"]
    leaving = [edge for edge in flow.edges if typed and edge.source == typed[0].id and edge.source_port == "message"]
    if not canvas.is_empty or len(typed) != 1 or len(leaving) != 1:
        return None
    [edge] = leaving
    ends = (edge.source, edge.source_port, edge.target, edge.target_port)
    try:
        left = disconnect(flow, *ends).flow
        left = add_component(left, catalogue, "Prompt Template", values={"template": PASSED_ON}).flow
        [more] = {node.id for node in left.nodes} - {node.id for node in flow.nodes}
        left = connect(left, catalogue, edge.source, edge.source_port, more, "text").flow
        return connect(left, catalogue, more, "prompt", edge.target, edge.target_port).flow
    except EditError:  # where a message fits and a text does not
        return None


VARIATIONS: Mapping[str, Callable[[Flow, Flow, Catalogue], Flow | None]] = {
    "other_ids": other_ids,
    "other_places": other_places,
    "other_order": other_order,
    "other_names": other_names,
    "one_step_more": one_step_more,
}
"""What makes another right flow of a right flow and the canvas, by name; none where it would not be right."""


def _new(flow: Flow, canvas: Flow) -> list[Node]:
    return [node for node in flow.components if canvas.node(node.id) is None]


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
