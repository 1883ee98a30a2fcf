"""Components that were moved although nothing new needed their room."""

from __future__ import annotations

from typing import Final

from flows.document import Flow, Node
from flows.json_values import Json, as_object
from flows.layout.layers import COLUMN
from flows.layout.sizes import node_height
from flows.layout.tidy import tidy

ROUNDING: Final = 1.0
"""How far a component may move, in pixels, when positions are rounded."""


def moved_unasked(before: Flow, after: Flow) -> list[str]:
    """The ids of components that stand elsewhere and need not, in document order.

    Where components or connections are new, those that come after them may move to the right, and those that the flow
    layer would move itself (`flows.layout.tidy`) may move as it would: by a column more for each new connection and two
    for each new component, which may be placed twice, and up or down by the height of a component. Without anything
    new, nothing may move.
    """
    moves = _moves(before, after)
    if not moves:
        return []
    fresh = [node for node in after.components if before.node(node.id) is None]
    known = {edge.text for edge in before.edges}
    joined = [edge for edge in after.edges if edge.text not in known]
    if not fresh and not joined:
        return list(moves)
    needed = _needed(before, after)
    following = _following(after, {edge.target for edge in joined} | {node.id for node in fresh})
    columns = COLUMN * (2 * len(fresh) + len(joined))
    height = max(node_height(node) for node in after.components)

    def makes_room(node_id: str, right: float, down: float) -> bool:
        if node_id not in needed and node_id not in following:
            return False
        to_right, to_down = needed.get(node_id, (0.0, 0.0))
        return -ROUNDING <= right <= to_right + columns and abs(down - to_down) <= height

    return [node_id for node_id, (right, down) in moves.items() if not makes_room(node_id, right, down)]


def _moves(before: Flow, after: Flow) -> dict[str, tuple[float, float]]:
    """How far each component that was there moved, in pixels to the right and down."""
    found: dict[str, tuple[float, float]] = {}
    for node in before.components:
        now = after.node(node.id)
        if now is not None:
            right, down = now.position[0] - node.position[0], now.position[1] - node.position[1]
            if max(abs(right), abs(down)) > ROUNDING:
                found[node.id] = (right, down)
    return found


def _needed(before: Flow, after: Flow) -> dict[str, tuple[float, float]]:
    """How far the flow layer would move each component that was there."""
    unmoved: list[Json] = [
        node.raw if (old := before.node(node.id)) is None else {**node.raw, "position": old.raw.get("position")}
        for node in after.nodes
    ]
    still = after.with_parts(nodes=unmoved)
    found: dict[str, tuple[float, float]] = {}
    for move in tidy(before, still):
        node = before.node(move.node)
        if node is not None:
            x, y = Node({"position": as_object(move.new)}).position
            found[move.node] = (x - node.position[0], y - node.position[1])
    return found


def _following(flow: Flow, starts: set[str]) -> set[str]:
    """The components at which connections arrive from these, and these."""
    found, waiting = set(starts), list(starts)
    while waiting:
        here = waiting.pop()
        ahead = {edge.target for edge in flow.edges if edge.source == here and not edge.is_feedback} - found
        found |= ahead
        waiting.extend(ahead)
    return found
