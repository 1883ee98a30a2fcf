"""A flow reduced to what is scored: its components, the values that were set and its connections, without layout."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from flows.catalogue import Catalogue
from flows.document import Flow, Node
from flows.fields.model_values import CONNECTED
from flows.json_values import Json, as_object, same_json


@dataclass(frozen=True)
class ScoredNode:
    """One component.

    Attributes:
        id: the node's id; only tells it apart from others of the same flow.
        values: the values that differ from the type's defaults, as JSON text by field name.
        name: the display name if it is not the type's, else empty.
    """

    id: str
    type: str
    values: Mapping[str, str]
    name: str = ""


@dataclass(frozen=True)
class ScoredEdge:
    """One connection, from output to input (or, in a loop, to an output)."""

    source: str
    output: str
    target: str
    input: str


@dataclass(frozen=True)
class ScoredFlow:
    """A flow's components and connections, without duplicate connections."""

    nodes: tuple[ScoredNode, ...]
    edges: frozenset[ScoredEdge]

    def without(self, ids: Container[str]) -> ScoredFlow:
        """The other components, without any connections."""
        return ScoredFlow(tuple(node for node in self.nodes if node.id not in ids), frozenset())

    def relabelled(self, ids: Mapping[str, str]) -> ScoredFlow:
        """The same flow with new ids; components that `ids` does not name keep theirs."""
        nodes = tuple(replace(node, id=ids.get(node.id, node.id)) for node in self.nodes)
        edges = frozenset(
            replace(edge, source=ids.get(edge.source, edge.source), target=ids.get(edge.target, edge.target))
            for edge in self.edges
        )
        return ScoredFlow(nodes, edges)


@lru_cache(maxsize=256)
def scored_flow(flow: Flow, catalogue: Catalogue) -> ScoredFlow:
    """Reduce a flow to what is scored.

    Args:
        catalogue: the component types with their defaults. Of an unknown type, every value that is not empty counts.
    """
    connected = {(edge.target, edge.target_port) for edge in flow.edges}
    ids = {node.id for node in flow.components}
    edges = {
        ScoredEdge(edge.source, edge.source_port, edge.target, edge.target_port)
        for edge in flow.edges
        if edge.source in ids and edge.target in ids
    }
    return ScoredFlow(tuple(_scored_node(node, catalogue, connected) for node in flow.components), frozenset(edges))


def is_blank(value: Json) -> bool:
    """Whether a field's value is empty: None, or an empty text, list or object."""
    return value is None or value in ("", [], {})


def same_value(left: Json, right: Json) -> bool:
    """Whether two values of a field are equal, or both empty."""
    return same_json(left, right) or (is_blank(left) and is_blank(right))


def _scored_node(node: Node, catalogue: Catalogue, connected: Container[tuple[str, str]]) -> ScoredNode:
    component = catalogue.get(node.type)
    values: dict[str, str] = {}
    for name, field in node.template.items():
        value = field.get("value")
        default = None if component is None else as_object(component.template.get(name)).get("value")
        if (node.id, name) in connected or (value == CONNECTED and field.get("type") == "model"):
            continue
        if name == "code":
            if component is None or value == default or _stripped(value) == _stripped(default):
                continue
        elif field.get("show") is False:
            continue  # the engine does not pass on hidden values
        if not same_value(value, default):
            values[name] = json.dumps(value, sort_keys=True, ensure_ascii=False)
    usual = {node.type, component.display_name if component is not None else node.type}
    return ScoredNode(node.id, node.type, values, "" if node.display_name in usual else node.display_name)


def _stripped(code: Json) -> str:
    return "\n".join(line.rstrip() for line in str(code or "").strip().splitlines())
