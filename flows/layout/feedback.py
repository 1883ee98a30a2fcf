"""Routing of feedback edges: the steps of a loop are placed beside its feedback edge, not across it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flows.document import Edge, Node
from flows.layout.sizes import GAP, WIDTH, node_height

MARGIN = 20.0
"""The margin on both sides of a feedback edge, in pixels."""
_ROUNDS = 8


@dataclass(frozen=True)
class Line:
    """The straight line of a feedback edge, in pixels, from right to left."""

    begin: tuple[float, float]
    end: tuple[float, float]

    def heights(self, left: float, right: float) -> tuple[float, float]:
        """Return the smallest and the largest y of the line between two x positions."""
        (x1, y1), (x2, y2) = self.begin, self.end
        slope = (y2 - y1) / (x2 - x1) if x1 != x2 else 0.0
        ends = [y1 + slope * (min(max(x, x2), x1) - x1) for x in (left, right)]
        return min(ends), max(ends)


def feedback_line(source: Node, target: Node, places: Mapping[str, tuple[float, float]]) -> Line:
    """Return the line of a feedback edge between the outputs, which are at the bottom of both nodes."""
    (x1, y1), (x2, y2) = places[source.id], places[target.id]
    return Line((x1 + WIDTH, y1 + _output_height(source)), (x2 + WIDTH, y2 + _output_height(target)))


def clear_feedback_edges(
    nodes: Mapping[str, Node], edges: Sequence[Edge], places: dict[str, tuple[float, float]]
) -> None:
    """Move nodes that a feedback edge would cross up or down, together with the nodes above or below them.

    Nodes stay in their columns and in their order. Nested loops are handled one by one, and again as long as that moves
    the ends of another edge.

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
        moved = [
            _clear(feedback_line(*ends, places), {end.id for end in ends}, nodes, columns, places) for ends in back
        ]
        if not any(moved):
            return


def _clear(
    line: Line,
    ends: set[str],
    nodes: Mapping[str, Node],
    columns: Mapping[float, list[str]],
    places: dict[str, tuple[float, float]],
) -> bool:
    moved = False
    for x, column in columns.items():
        if not (line.end[0] < x + WIDTH and x < line.begin[0]) or ends & set(column):
            continue
        high, low = line.heights(x, x + WIDTH)
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
