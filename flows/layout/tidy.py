"""Tidying after an edit: new nodes go beside what they are joined to, and nothing else moves unless it must."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from flows.actions import Arrange, apply_all
from flows.document import Edge, Flow, Node
from flows.json_values import MISSING
from flows.layout.board import Board
from flows.layout.layers import COLUMN, forward_edges, layout
from flows.layout.sizes import WIDTH

MARGIN = COLUMN - WIDTH
"""The distance between a node and the next one to its right, in pixels."""
ROUNDS = 8
"""How often nodes that hide an edge are moved; each move may hide another edge."""


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
    board = Board(nodes, {node_id: node.position for node_id, node in nodes.items()}, edges)
    movable = {*free, *added}
    touched = {end for edge in new_edges for end in (edge.source, edge.target)} | set(added)
    order = _order(list(nodes), edges)
    moving = _columns(board, [each for each in order if each in touched & movable and board.edges_of(each)])
    pushed = _push_right(board, order, {edge.target for edge in new_edges} | (movable & touched))
    _settle_all(board, moving)
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
    board = Board(nodes, {node_id: node.position for node_id, node in nodes.items()}, edges)
    if nodes:
        _uncover(board, _order(list(nodes), edges), set(nodes))
    return apply_all(placed, list(_moves(nodes, board)))


def _columns(board: Board, moving: Sequence[str]) -> list[str]:
    """Put each of these nodes to the right of its sources, or to the left of its targets.

    Those whose sources have their place go first, along the edges, then those that feed them, against the edges. Where
    nothing has a place, the first node stays and the others go beside it.

    Args:
        board: the nodes; heights are not changed.
        moving: the nodes to place, each after those that feed it.

    Returns:
        The nodes in the order in which they were placed: each beside one that comes before it.
    """
    placed = set(board.places).difference(moving)
    found: list[str] = []

    def put(node_id: str, x: float) -> None:
        board.places[node_id] = (x, board.places[node_id][1])
        placed.add(node_id)
        found.append(node_id)

    while waiting := [each for each in moving if each not in placed]:
        for node_id in waiting:
            if sources := [each for each in board.sources(node_id) if each in placed]:
                put(node_id, max(board.right(each) for each in sources) + MARGIN)
        for node_id in reversed([each for each in waiting if each not in placed]):
            if targets := [each for each in board.targets(node_id) if each in placed]:
                put(node_id, min(board.places[each][0] for each in targets) - board.width(node_id) - MARGIN)
        if placed.isdisjoint(waiting):
            put(waiting[0], board.places[waiting[0]][0])
    return found


def _settle_all(board: Board, moving: Sequence[str]) -> None:
    """Choose the heights of nodes, one after the other: those that wait for theirs are in nobody's way."""
    corners = {node_id: board.places.pop(node_id) for node_id in moving}
    for node_id, (x, y) in corners.items():
        sources = [each for each in board.sources(node_id) if each in board.places]
        around = sources or [each for each in board.targets(node_id) if each in board.places]
        if around:
            middle = sum(board.places[each][1] + board.height(each) / 2 for each in around) / len(around)
            y = middle - board.height(node_id) / 2
        board.places[node_id] = (x, y)
        if around or board.covered(node_id):
            board.settle(node_id, y)


def _push_right(board: Board, order: Iterable[str], begin: set[str]) -> set[str]:
    """Move nodes to the right of what feeds them, from these on along the edges; returns those that moved."""
    pushed = set[str]()
    for node_id in order:
        feeders = board.sources(node_id)
        if node_id not in begin and pushed.isdisjoint(feeders):
            continue
        x, y = board.places[node_id]
        ends = [board.right(each) for each in feeders]
        if ends and x < max(ends):
            board.places[node_id] = (max(ends) + MARGIN, y)
            pushed.add(node_id)
    return pushed


def _uncover(board: Board, order: Sequence[str], moved: set[str]) -> None:
    """Move nodes that hide an edge, as long as an edge or a node that has moved is concerned."""
    for _ in range(ROUNDS):
        found = set(board.hiding(moved))
        hiding = [node_id for node_id in order if node_id in found]
        if not hiding:
            return
        for node_id in hiding:
            board.settle(node_id, board.places[node_id][1])
        moved = moved | set(hiding)


def _moves(nodes: dict[str, Node], board: Board) -> Iterator[Arrange]:
    for node_id, node in nodes.items():
        if board.places[node_id] != node.position:
            x, y = board.places[node_id]
            yield Arrange(node_id, "position", node.raw.get("position", MISSING), {"x": x, "y": y})


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
