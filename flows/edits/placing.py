"""Placing after an edit: the edit with the moves that keep the flow readable."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from flows.actions import AddComponent, Arrange, FlowAction, apply_all
from flows.document import Flow
from flows.edits.result import Edit
from flows.json_values import Missing
from flows.layout.tidy import tidy


def tidied(before: Flow, edit: Edit, free: Collection[str] = ()) -> Edit:
    """Return an edit with the moves that it calls for; a node that it adds is added where it belongs.

    Args:
        before: the flow before the edit.
        edit: the edit.
        free: ids of nodes that nobody has placed yet, such as those that were added in the same turn.
    """
    moves = {move.node: move for move in tidy(before, edit.flow, free)}
    if not moves:
        return edit
    actions = [_placed(action, moves) for action in edit.actions]
    actions.extend(moves.values())
    return Edit(apply_all(before, actions), tuple(actions))


def _placed(action: FlowAction, moves: dict[str, Arrange]) -> FlowAction:
    """An action that adds a node, with the node's place; the move is then not needed any more."""
    move = moves.get(str(action.node.get("id"))) if isinstance(action, AddComponent) else None
    if move is None or isinstance(move.new, Missing) or not isinstance(action, AddComponent):
        return action
    del moves[move.node]
    return replace(action, node={**action.node, "position": move.new})
