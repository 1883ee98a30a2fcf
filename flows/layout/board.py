"""The nodes of a flow as boxes, while they are moved."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from flows.document import Edge, Node
from flows.layout.feedback import Line
from flows.layout.sizes import GAP, node_height, node_width

LAST = chr(0x10FFFF)
"""Sorts after every node id."""
STEP = 60.0
"""How far apart the heights are that are tried for a node, in pixels."""
TRIES = 80
"""How many heights are tried in each direction."""


@dataclass
class Board:
    """The nodes of a flow as boxes, while they are moved.

    Attributes:
        nodes: the components by id.
        places: their upper left corners; a node without one is not yet on the board and in nobody's way.
        edges: the edges that run forward, between components.
    """

    nodes: dict[str, Node]
    places: dict[str, tuple[float, float]]
    edges: list[Edge]
    _at: dict[str, list[Edge]] = field(init=False, default_factory=dict[str, list[Edge]])

    def __post_init__(self) -> None:
        for edge in self.edges:
            for end in {edge.source, edge.target}:
                self._at.setdefault(end, []).append(edge)

    def edges_of(self, node_id: str) -> list[Edge]:
        """The edges that begin or end at a node."""
        return self._at.get(node_id, [])

    def sources(self, node_id: str) -> list[str]:
        """The nodes that feed a node."""
        return [edge.source for edge in self.edges_of(node_id) if edge.target == node_id]

    def targets(self, node_id: str) -> list[str]:
        """The nodes that a node feeds."""
        return [edge.target for edge in self.edges_of(node_id) if edge.source == node_id]

    def height(self, node_id: str) -> float:
        """A node's height without the gap below it."""
        return node_height(self.nodes[node_id]) - GAP

    def width(self, node_id: str) -> float:
        """A node's width."""
        return node_width(self.nodes[node_id])

    def right(self, node_id: str) -> float:
        """The x of a node's right side."""
        return self.places[node_id][0] + self.width(node_id)

    def between(self, left: float, right: float) -> list[str]:
        """The nodes that stand, at least in part, between two x positions."""
        return [each for each, (x, _) in self.places.items() if x < right and left < self.right(each)]

    def covered(self, node_id: str) -> bool:
        """Whether a node touches another one."""
        x, y = self.places[node_id]
        others = set(self.between(x, self.right(node_id))) - {node_id}
        return any(_touch(self._span(other), (y, y + self.height(node_id))) for other in others)

    def line(self, edge: Edge) -> Line:
        """The straight line of an edge, from the left side of its target to the right side of its source."""
        (x, target), source = self.places[edge.target], self.places[edge.source][1]
        begin = (x, target + self.height(edge.target) / 2)
        return Line(begin, (self.right(edge.source), source + self.height(edge.source) / 2))

    def behind(self, edge: Edge, node_id: str) -> bool:
        """Whether an edge passes behind a node that it does not join."""
        line = self.line(edge)
        left, right = self.places[node_id][0], self.right(node_id)
        if node_id in (edge.source, edge.target) or right <= line.end[0] or line.begin[0] <= left:
            return False
        return line.end[0] < line.begin[0] and _touch(line.heights(left, right), self._span(node_id))

    def hiding(self, moved: Collection[str]) -> Iterator[str]:
        """The nodes that hide an edge, where one of these nodes hides it or the edge joins one of these nodes."""
        by_x = sorted((x, node_id) for node_id, (x, _) in self.places.items())
        widest = max(self.width(node_id) for node_id in self.nodes)
        for edge in self.edges:
            left, right = self.right(edge.source), self.places[edge.target][0]
            joins = edge.source in moved or edge.target in moved
            for _, node_id in by_x[bisect_right(by_x, (left - widest, LAST)) : bisect_left(by_x, (right, ""))]:
                if (joins or node_id in moved) and self.behind(edge, node_id):
                    yield node_id

    def settle(self, node_id: str, wanted: float) -> None:
        """Put a node at the height nearest to the wanted one where the least is in the way.

        Another node counts most, then an edge that would pass behind this one, then a node that hides its own edges:
        that one can still be moved.
        """
        x, right, height = self.places[node_id][0], self.right(node_id), self.height(node_id)
        spans = [self._span(each) for each in self.between(x, right) if each != node_id]
        boxes = [(top - GAP, bottom + GAP) for top, bottom in spans]
        own = [edge for edge in self._at.get(node_id, []) if self._drawn(edge)]
        lines = [
            self.line(edge) for edge in self.edges if node_id not in (edge.source, edge.target) and self._drawn(edge)
        ]
        passing = [
            line.heights(x, right)
            for line in lines
            if line.end[0] < line.begin[0] and line.end[0] < right and x < line.begin[0]
        ]
        crossed = [(edge, self.between(self.right(edge.source), self.places[edge.target][0])) for edge in own]
        best, fewest = wanted, None
        for y in _heights(wanted, [y for top, bottom in boxes for y in (bottom, top - height)]):
            self.places[node_id] = (x, y)
            count = 1_000 * sum(_touch(box, (y, y + height)) for box in boxes)
            count += 10 * sum(_touch(line, (y, y + height)) for line in passing)
            if count < 1_000:
                count += sum(self.behind(edge, each) for edge, between in crossed for each in between)
            if fewest is None or count < fewest:
                best, fewest = y, count
            if count == 0:
                break
        self.places[node_id] = (x, best)

    def _drawn(self, edge: Edge) -> bool:
        return edge.source in self.places and edge.target in self.places

    def _span(self, node_id: str) -> tuple[float, float]:
        top = self.places[node_id][1]
        return top, top + self.height(node_id)


def _touch(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two ranges overlap."""
    return one[0] < other[1] and other[0] < one[1]


def _heights(wanted: float, free: Sequence[float]) -> list[float]:
    """Heights to try, the nearest first: at regular distances, and where other nodes end."""
    steps = (wanted + number * STEP for number in range(-TRIES, TRIES + 1))
    return sorted({*steps, *free}, key=lambda y: (abs(y - wanted), -y))
