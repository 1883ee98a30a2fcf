"""The ways of edges that lead back: in a layout, the steps of a loop stand beside them, not across them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flows.document import Edge, Node
from flows.layout.sizes import GAP, WIDTH, node_height

MARGIN = 20.0
"""Pixels that stay free on both sides of the way of an edge."""
_ROUNDS = 8


@dataclass(frozen=True)
class Way:
    """The straight way of an edge that leads back, in pixels, from right to left."""

    begin: tuple[float, float]
    end: tuple[float, float]

    def heights(self, left: float, right: float) -> tuple[float, float]:
        """Return the least and the greatest height of the way between two places from left to right."""
        (x1, y1), (x2, y2) = self.begin, self.end
        slope = (y2 - y1) / (x2 - x1) if x1 != x2 else 0.0
        ends = [y1 + slope * (min(max(x, x2), x1) - x1) for x in (left, right)]
        return min(ends), max(ends)


def way_of(source: Node, target: Node, places: Mapping[str, tuple[float, float]]) -> Way:
    """Return the way of an edge that leads back: between the outputs, which stand at the foot of both nodes."""
    (x1, y1), (x2, y2) = places[source.id], places[target.id]
    return Way((x1 + WIDTH, y1 + _output_height(source)), (x2 + WIDTH, y2 + _output_height(target)))


def clear_ways(nodes: Mapping[str, Node], edges: Sequence[Edge], places: dict[str, tuple[float, float]]) -> None:
    """Move what stands in the way of an edge that leads back up or down, together with what is above or below it.

    Nodes stay in their columns and in their order. Loops within loops are cleared one after the other, and again while
    that moves the ends of another.

    Args:
        nodes: the components by id.
        edges: the flow's edges.
        places: the upper left corners, which are changed.
    """
    back = [
        (nodes[edge.source], nodes[edge.target])
        for edge in edges
        if edge.is_feedback and edge.source in places and edge.target in places and edge.source != edge.target
    ]
    if not back:
        return
    columns: dict[float, list[str]] = {}
    for node_id, (x, _) in places.items():
        columns.setdefault(x, []).append(node_id)
    for _ in range(_ROUNDS):
        moved = [_clear(way_of(*ends, places), {end.id for end in ends}, nodes, columns, places) for ends in back]
        if not any(moved):
            return


def _clear(
    way: Way,
    ends: set[str],
    nodes: Mapping[str, Node],
    columns: Mapping[float, list[str]],
    places: dict[str, tuple[float, float]],
) -> bool:
    moved = False
    for x, column in columns.items():
        if not (way.end[0] < x + WIDTH and x < way.begin[0]) or ends & set(column):
            continue
        high, low = way.heights(x, x + WIDTH)
        middle = (high + low) / 2
        above = [node_id for node_id in column if _middle(nodes[node_id], places) < middle]
        below = [node_id for node_id in column if node_id not in above]
        foot = max((places[node_id][1] + node_height(nodes[node_id]) - GAP for node_id in above), default=None)
        head = min((places[node_id][1] for node_id in below), default=None)
        up = 0.0 if foot is None else max(0.0, foot - (high - MARGIN))
        down = 0.0 if head is None else max(0.0, low + MARGIN - head)
        for group, shift in ((above, -up), (below, down)):
            for node_id in group if shift else ():
                places[node_id] = (x, places[node_id][1] + shift)
                moved = True
    return moved


def _output_height(node: Node) -> float:
    return node_height(node) - GAP - 30.0


def _middle(node: Node, places: Mapping[str, tuple[float, float]]) -> float:
    return places[node.id][1] + (node_height(node) - GAP) / 2
