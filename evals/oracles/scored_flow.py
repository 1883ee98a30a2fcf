"""A flow reduced to what is scored: its components, the values that someone set, its connections; no layout."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from flows.catalogue import Catalogue
from flows.document import Flow, Node
from flows.fields.model_values import CONNECTED
from flows.json_values import Json, as_object, same_json

_EMPTY: tuple[Json, ...] = (None, "", [], {})


@dataclass(frozen=True)
class Part:
    """One component.

    Attributes:
        id: the node's id; only what tells it apart from others of the same flow.
        values: what differs from the type's defaults, as JSON text by field name.
        name: the display name when it is not the type's own, else empty.
    """

    id: str
    type: str
    values: Mapping[str, str]
    name: str = ""


@dataclass(frozen=True)
class Link:
    """One connection, from output to input (or, in a loop, to an output)."""

    source: str
    output: str
    target: str
    input: str


@dataclass(frozen=True)
class ScoredFlow:
    """A flow's components and connections, without duplicate connections."""

    parts: tuple[Part, ...]
    links: frozenset[Link]

    def part(self, part_id: str) -> Part | None:
        """The component of that id."""
        return next((part for part in self.parts if part.id == part_id), None)

    def renamed(self, ids: Mapping[str, str]) -> ScoredFlow:
        """The same with other ids; those that `ids` leaves out stay."""
        parts = tuple(replace(part, id=ids.get(part.id, part.id)) for part in self.parts)
        links = frozenset(
            replace(link, source=ids.get(link.source, link.source), target=ids.get(link.target, link.target))
            for link in self.links
        )
        return ScoredFlow(parts, links)


def scored_flow(flow: Flow, catalogue: Catalogue) -> ScoredFlow:
    """Reduce a flow to what is scored.

    Args:
        catalogue: says which values are a type's defaults. Of an unknown type, every value that says something counts.
    """
    taken = {(edge.target, edge.target_port) for edge in flow.edges}
    nodes = [node for node in flow.nodes if not node.is_note]
    known = {node.id for node in nodes}
    links = {
        Link(edge.source, edge.source_port, edge.target, edge.target_port)
        for edge in flow.edges
        if edge.source in known and edge.target in known
    }
    return ScoredFlow(tuple(_part(node, catalogue, taken) for node in nodes), frozenset(links))


def _part(node: Node, catalogue: Catalogue, taken: set[tuple[str, str]]) -> Part:
    kind = catalogue.get(node.type)
    values: dict[str, str] = {}
    for name, field in node.template.items():
        default = as_object(kind.template.get(name)) if kind is not None else {}
        value = field.get("value")
        if (node.id, name) in taken or (value == CONNECTED and field.get("type") == "model"):
            continue
        if field.get("show") is False and name != "code":
            continue  # the engine does not pass on what is hidden
        if name == "code" and (kind is None or _same_code(value, default.get("value"))):
            continue
        before = default.get("value")
        if same_json(value, before) or (value in _EMPTY and before in _EMPTY):
            continue
        values[name] = json.dumps(value, sort_keys=True, ensure_ascii=False)
    own = node.display_name
    usual = {node.type, kind.display_name if kind is not None else node.type}
    return Part(node.id, node.type, values, "" if own in usual else own)


def _same_code(one: Json | None, other: Json | None) -> bool:
    return one == other or _stripped(one) == _stripped(other)


def _stripped(value: Json | None) -> str:
    return "\n".join(line.rstrip() for line in str(value or "").strip().splitlines())
