"""Undoing the changes of the last turn: its actions, inverted, newest first."""

from collections.abc import Sequence

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows.actions import FlowAction, StaleAction, apply, inverse
from flows.document import Flow
from flows.edits import Edit
from tools.consequences import reports_new_errors
from tools.workbench import Workbench


@reports_new_errors
async def undo_changes(ctx: RunContext[Workbench]) -> str:
    """Take back every change that the last turn made to the canvas."""
    bench = ctx.deps
    if not bench.undoable:
        raise ModelRetry("There is nothing to undo. Tell the user so.")
    try:
        edit = undo_edit(bench.flow, bench.undoable)
    except StaleAction as stale:
        raise ModelRetry("Nothing was undone: the canvas was changed since. Tell the user so.") from stale
    await bench.commit(ctx.emit, edit)
    bench.undoable = ()
    return f"Undone: {len(edit.actions)} change(s)."


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
        back.append(inverse(action))
        canvas = apply(canvas, back[-1])
    return Edit(canvas, tuple(back))


undo_tools = FunctionToolset[Workbench]([undo_changes], max_retries=3, sequential=True, id="undo")
