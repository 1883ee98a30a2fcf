"""What can be undone and redone in a conversation: the changes of its turns, newest last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from flows.actions import FlowAction, apply, inverse
from flows.document import Flow
from flows.edits import Edit
from flows.merge import fitted
from tools.json_types import ActionJson

DEPTH = 20
"""How many turns can be undone."""


class TurnChanges(BaseModel):
    """The changes of one turn; a turn that was suspended and resumed is one.

    Attributes:
        turn: its number in the conversation.
        actions: the changes, in order.
    """

    turn: int
    actions: list[ActionJson] = Field(default_factory=list[FlowAction])


class UndoStack(BaseModel):
    """The turns that can be undone, and those that were undone and can be redone.

    Its lists are replaced and never changed, so that `model_copy` is a stack of its own.

    Law: `redo` after `undo` gives the canvas and the stack that were there before.

    Attributes:
        done: the turns that changed the canvas, oldest first.
        undone: the turns that were undone, in the order in which they were.
    """

    done: list[TurnChanges] = Field(default_factory=list[TurnChanges])
    undone: list[TurnChanges] = Field(default_factory=list[TurnChanges])

    def record(self, turn: int, actions: Sequence[FlowAction]) -> None:
        """Add what a turn changed; what was undone before can no longer be redone.

        Args:
            turn: the number of the turn, or of the one that it resumes.
            actions: its changes, in order.
        """
        if not actions:
            return
        self.undone = []
        if self.done and self.done[-1].turn == turn:
            earlier, self.done = self.done[-1], self.done[:-1]
            actions = [*earlier.actions, *actions]
        self.done = [*self.done, TurnChanges(turn=turn, actions=list(actions))][-DEPTH:]

    def undo(self, canvas: Flow) -> Edit | None:
        """Take the last turn off the stack.

        Args:
            canvas: the current canvas.

        Returns:
            The edit that undoes it, or None when there is none.

        Raises:
            StaleAction: the canvas was changed in the same places since; the stack stays as it is.
        """
        if not self.done:
            return None
        edit = undo_edit(canvas, self.done[-1].actions)
        self.undone = [*self.undone, self.done[-1]]
        self.done = self.done[:-1]
        return edit

    def redo(self, canvas: Flow) -> Edit | None:
        """Take the turn that was undone last from where `undo` put it.

        Args:
            canvas: the current canvas.

        Returns:
            The edit that repeats it, or None when there is none.

        Raises:
            StaleAction: as `undo`.
        """
        if not self.undone:
            return None
        again = self.undone[-1]
        steps: list[FlowAction] = []
        for action in again.actions:
            steps.append(fitted(action, canvas))
            canvas = apply(canvas, steps[-1])
        self.done = [*self.done, again]
        self.undone = self.undone[:-1]
        return Edit(canvas, tuple(steps))

    def forget_oldest(self) -> bool:
        """Forget the turn that is farthest back; returns whether there was one."""
        if self.done:
            self.done = self.done[1:]
        elif self.undone:
            self.undone = self.undone[1:]
        else:
            return False
        return True


def undo_edit(canvas: Flow, actions: Sequence[FlowAction]) -> Edit:
    """Return the edit that undoes these changes.

    Args:
        canvas: the current canvas.
        actions: the changes, in order.

    Raises:
        StaleAction: the canvas has been changed in the same places since.
    """
    back: list[FlowAction] = []
    for action in reversed(actions):
        back.append(fitted(inverse(action), canvas))
        canvas = apply(canvas, back[-1])
    return Edit(canvas, tuple(back))


def stack_of_last_turn(given: Any) -> Any:
    """A stack from its JSON; versions 0.1 to 0.2 kept the actions of the last turn alone, as a list."""
    if not isinstance(given, list):
        return given
    last: dict[str, Any] = {"turn": 0, "actions": given}
    return UndoStack.model_validate({"done": [last] if given else []})
