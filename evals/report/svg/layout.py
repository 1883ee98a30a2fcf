"""The layout of a drawing: the places of components and their rows, the same in every state of a flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evals.oracles.scored_flow import ScoredFlow, scored_flow
from flows.catalogue import Catalogue
from flows.document import Edge, Flow, Node
from flows.json_values import Json, as_list, as_text, texts
from flows.layout.layers import positions

WIDTH = 196
"""The width of a component, in units of the drawing."""
HEAD = 36
"""The height of its title and type."""
ROW = 17
"""The height of each of its rows."""
GAP = 22
"""The least space between components of a column."""
MARGIN = 26
"""The space around the drawing, with room for feedback wires."""
_ACROSS = 0.52
_MOST_VALUES = 5
_MOST_OUTPUTS = 4

Wire = tuple[str, str, str, str]
"""A connection: source, its output, target, its input."""


class ScoredFlows:
    """The scored forms of flows, each computed once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._known: dict[int, tuple[Flow, ScoredFlow]] = {}

    def of(self, flow: Flow) -> ScoredFlow:
        """The scored form of a flow. The flow is kept alive, so that its id is not reused."""
        found = self._known.get(id(flow.raw))
        if found is None:
            found = self._known[id(flow.raw)] = (flow, scored_flow(flow, self._catalogue))
        return found[1]


@dataclass(frozen=True)
class Rows:
    """The rows of one component: inputs, values and outputs, from top to bottom.

    Attributes:
        inputs: names of connected inputs.
        values: names of fields that differ from the type's defaults in some state.
        hidden: how many such fields are left out.
        outputs: names of outputs with their types.
    """

    inputs: tuple[str, ...]
    values: tuple[str, ...]
    hidden: int
    outputs: Mapping[str, str]

    @property
    def height(self) -> int:
        """The height of the component."""
        return HEAD + ROW * (len(self.inputs) + len(self.values) + bool(self.hidden) + len(self.outputs)) + 6


@dataclass(frozen=True)
class Board:
    """The places and rows of all components in several states of a flow.

    Attributes:
        places: the upper left corner of each component.
        rows: the rows of each.
    """

    places: Mapping[str, tuple[int, int]]
    rows: Mapping[str, Rows]
    width: int
    height: int

    @classmethod
    def of(cls, states: Sequence[Flow], shapes: ScoredFlows) -> Board:
        """The board for all states, with each component at one place."""
        whole = _united(states)
        values: dict[str, dict[str, None]] = {}
        outputs: dict[str, dict[str, str]] = {}
        for state in states:
            for scored in shapes.of(state).nodes:
                values.setdefault(scored.id, {}).update(dict.fromkeys(scored.values))
            for node in state.nodes:
                outputs.setdefault(node.id, {}).update(_outputs(node))
        rows = {
            node.id: _rows(node.id, whole.edges, tuple(values.get(node.id, ())), outputs.get(node.id, {}))
            for node in whole.nodes
        }
        places = _fitted(positions(whole), rows)
        right = max((x + WIDTH for x, _ in places.values()), default=WIDTH)
        low = max((y + rows[node_id].height for node_id, (_, y) in places.items()), default=HEAD)
        return cls(places, rows, right + MARGIN, low + MARGIN)

    def input_point(self, node_id: str, port: str) -> tuple[int, int]:
        """Where a wire ends; on the right if it closes a loop by entering an output."""
        x, y = self.places[node_id]
        rows = self.rows[node_id]
        if port in rows.inputs:
            return x, y + HEAD + ROW * rows.inputs.index(port) + 8
        return self.output_point(node_id, port)

    def output_point(self, node_id: str, port: str) -> tuple[int, int]:
        """Where a wire begins."""
        x, y = self.places[node_id]
        rows = self.rows[node_id]
        above = len(rows.inputs) + len(rows.values) + bool(rows.hidden)
        place = list(rows.outputs).index(port) if port in rows.outputs else 0
        return x + WIDTH, y + HEAD + ROW * (above + place) + 8


def wire_of(edge: Edge) -> Wire:
    """The connection of an edge."""
    return edge.source, edge.source_port, edge.target, edge.target_port


def wires(flow: Flow) -> dict[Wire, Edge]:
    """The flow's connections between existing components."""
    there = components(flow)
    return {wire_of(edge): edge for edge in flow.edges if edge.source in there and edge.target in there}


def components(flow: Flow) -> dict[str, Node]:
    """The flow's components by id."""
    return {node.id: node for node in flow.components}


def _united(states: Sequence[Flow]) -> Flow:
    """One flow with the components and connections of all states; the last state's come first."""
    nodes: dict[str, Node] = {}
    edges: dict[Wire, Edge] = {}
    for state in reversed(states):
        for node_id, node in components(state).items():
            nodes.setdefault(node_id, node)
        for wire, edge in wires(state).items():
            edges.setdefault(wire, edge)
    found: list[Json] = [node.raw for node in nodes.values()]
    joined: list[Json] = [edge.raw for edge in edges.values()]
    return Flow({"data": {"nodes": found, "edges": joined}})


def _outputs(node: Node) -> dict[str, str]:
    found: dict[str, str] = {}
    for output in node.outputs:
        name = as_text(output.get("name"))
        if name and not output.get("hidden"):
            types = texts(as_list(output.get("types")))
            found[name] = as_text(output.get("selected")) or (types[0] if types else "")
    return found


def _rows(node_id: str, edges: Sequence[Edge], values: tuple[str, ...], outputs: Mapping[str, str]) -> Rows:
    inputs = dict.fromkeys(edge.target_port for edge in edges if edge.target == node_id and not edge.is_feedback)
    used = dict.fromkeys(edge.source_port for edge in edges if edge.source == node_id)
    used.update(dict.fromkeys(edge.target_port for edge in edges if edge.target == node_id and edge.is_feedback))
    names = [*used, *(name for name in outputs if name not in used)][: max(_MOST_OUTPUTS, len(used))]
    ordered = sorted(names, key=lambda name: list(outputs).index(name) if name in outputs else -1)
    return Rows(
        tuple(inputs),
        values[:_MOST_VALUES],
        max(0, len(values) - _MOST_VALUES),
        {name: outputs.get(name, "") for name in ordered},
    )


def _fitted(spots: Mapping[str, tuple[float, float]], rows: Mapping[str, Rows]) -> dict[str, tuple[int, int]]:
    """The layout's places, scaled so that components of a column just do not touch."""
    columns: dict[float, list[str]] = {}
    for node_id in sorted(spots, key=lambda one: spots[one][1]):
        columns.setdefault(spots[node_id][0], []).append(node_id)
    scale = 0.2
    for column in columns.values():
        for upper, lower in pairwise(column):
            apart = spots[lower][1] - spots[upper][1]
            if apart > 0:
                scale = max(scale, (rows[upper].height + GAP) / apart)
    left = min((x for x, _ in spots.values()), default=0.0)
    top = min((y for _, y in spots.values()), default=0.0)
    return {
        node_id: (MARGIN + round((x - left) * _ACROSS), MARGIN + round((y - top) * scale))
        for node_id, (x, y) in spots.items()
    }
