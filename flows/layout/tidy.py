"""Tidying after an edit: new nodes go beside what they are joined to, and nothing else moves unless it must."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from flows.actions import Arrange, apply_all
from flows.document import Edge, Flow, Node
from flows.json_values import MISSING
from flows.layout.feedback import Line
from flows.layout.layers import COLUMN, forward_edges, layout
from flows.layout.sizes import GAP, WIDTH, node_height, node_width

MARGIN = COLUMN - WIDTH
"""The distance between a node and the next one to its right, in pixels."""
LAST = chr(0x10FFFF)
"""Sorts after every node id."""
STEP = 60.0
"""How far apart the heights are that are tried for a node, in pixels."""
ROUNDS = 8
"""How often nodes that hide an edge are moved; each move may hide another edge."""
TRIES = 80
"""How many heights are tried in each direction."""


@dataclass
class _Board:
    """The nodes of a flow as boxes, while they are moved.

    Attributes:
        nodes: the components by id.
        places: their upper left corners.
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
        own = self._at.get(node_id, [])
        lines = [self.line(edge) for edge in self.edges if node_id not in (edge.source, edge.target)]
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

    def _span(self, node_id: str) -> tuple[float, float]:
        top = self.places[node_id][1]
        return top, top + self.height(node_id)


def _touch(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two ranges overlap."""
    return one[0] < other[1] and other[0] < one[1]


def tidy(before: Flow, after: Flow, free: Collection[str] = ()) -> tuple[Arrange, ...]:
    """The moves that an edit calls for.

    A node that the edit adds or joins, and that may move freely, goes beside what it is joined to. Others move only to
    the right, as far as an edge needs it to run from left to right, and up or down when they would be covered by a
    node that moved or would hide an edge that is new. A cycle's closing edge may run backwards.

    Args:
        before: the flow before the edit.
        after: the flow after it.
        free: ids of nodes that nobody has placed yet, such as those that were added in the same turn.
    """
    nodes = {node.id: node for node in after.components}
    old = {edge.text for edge in before.edges}
    old_nodes = {node.id for node in before.nodes}
    added = [node_id for node_id in nodes if node_id not in old_nodes]
    edges = forward_edges(list(nodes), after.edges)
    new_edges = [edge for edge in edges if edge.text not in old]
    if not added and not new_edges:
        return ()
    board = _Board(nodes, {node_id: node.position for node_id, node in nodes.items()}, edges)
    movable = {*free, *added}
    touched = {end for edge in new_edges for end in (edge.source, edge.target)} | set(added)
    order = _order(list(nodes), edges)
    for node_id in (each for each in order if each in touched and each in movable and board.edges_of(each)):
        _beside(board, node_id, settled=set(nodes) - (movable & touched) | set(order[: order.index(node_id)]))
    pushed = _push_right(board, order, {edge.target for edge in new_edges} | (movable & touched))
    for node_id in order:
        if node_id in pushed and board.covered(node_id):
            board.settle(node_id, board.places[node_id][1])
    _uncover(board, order, touched | pushed)
    return tuple(_moves(nodes, board))


def laid_out(flow: Flow) -> Flow:
    """Return the flow with every component placed, none of which hides an edge; notes stay where they are."""
    placed = layout(flow)
    nodes = {node.id: node for node in placed.components}
    edges = forward_edges(list(nodes), placed.edges)
    board = _Board(nodes, {node_id: node.position for node_id, node in nodes.items()}, edges)
    if nodes:
        _uncover(board, _order(list(nodes), edges), set(nodes))
    return apply_all(placed, list(_moves(nodes, board)))


def _beside(board: _Board, node_id: str, settled: set[str]) -> None:
    """Put a node to the right of its sources, or to the left of its targets when it has no source."""
    edges = board.edges_of(node_id)
    sources = [edge.source for edge in edges if edge.target == node_id and edge.source in settled]
    targets = [edge.target for edge in edges if edge.source == node_id and edge.target in settled]
    if sources:
        x = max(board.right(each) for each in sources) + MARGIN
    elif targets:
        x = min(board.places[each][0] for each in targets) - board.width(node_id) - MARGIN
    else:
        return
    around = sources or targets
    middle = sum(board.places[each][1] + board.height(each) / 2 for each in around) / len(around)
    board.places[node_id] = (x, board.places[node_id][1])
    board.settle(node_id, middle - board.height(node_id) / 2)


def _push_right(board: _Board, order: Iterable[str], begin: set[str]) -> set[str]:
    """Move nodes to the right of what feeds them, from these on along the edges; returns those that moved."""
    pushed = set[str]()
    for node_id in order:
        feeders = [edge.source for edge in board.edges_of(node_id) if edge.target == node_id]
        if node_id not in begin and pushed.isdisjoint(feeders):
            continue
        x, y = board.places[node_id]
        ends = [board.right(each) for each in feeders]
        if ends and x < max(ends):
            board.places[node_id] = (max(ends) + MARGIN, y)
            pushed.add(node_id)
    return pushed


def _uncover(board: _Board, order: Sequence[str], moved: set[str]) -> None:
    """Move nodes that hide an edge, as long as an edge or a node that has moved is concerned."""
    for _ in range(ROUNDS):
        found = set(board.hiding(moved))
        hiding = [node_id for node_id in order if node_id in found]
        if not hiding:
            return
        for node_id in hiding:
            board.settle(node_id, board.places[node_id][1])
        moved = moved | set(hiding)


def _moves(nodes: dict[str, Node], board: _Board) -> Iterator[Arrange]:
    for node_id, node in nodes.items():
        if board.places[node_id] != node.position:
            x, y = board.places[node_id]
            yield Arrange(node_id, "position", node.raw.get("position", MISSING), {"x": x, "y": y})


def _heights(wanted: float, free: Sequence[float]) -> list[float]:
    """Heights to try, the nearest first: at regular distances, and where other nodes end."""
    steps = (wanted + number * STEP for number in range(-TRIES, TRIES + 1))
    return sorted({*steps, *free}, key=lambda y: (abs(y - wanted), -y))


def _order(node_ids: list[str], edges: list[Edge]) -> list[str]:
    """The nodes in an order in which each comes after those that feed it."""
    waiting = dict.fromkeys(node_ids, 0)
    following: dict[str, list[str]] = {}
    for edge in edges:
        waiting[edge.target] += 1
        following.setdefault(edge.source, []).append(edge.target)
    order = [node_id for node_id in node_ids if not waiting[node_id]]
    for node_id in order:
        for target in following.get(node_id, ()):
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    return order
