"""Undoing the turns that changed the canvas, newest first, and redoing them."""

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows.actions import StaleAction
from tools.consequences import reports_new_errors
from tools.workbench import Workbench


@reports_new_errors
async def undo_changes(ctx: RunContext[Workbench], turns: int = 1) -> str:
    """Take back every change of the last turn that changed the canvas.

    Args:
        turns: how many turns to go back; a negative number makes as many that were taken back again.
    """
    bench = ctx.deps
    step, word = (bench.undo_stack.undo, "undo") if turns > 0 else (bench.undo_stack.redo, "redo")
    changes = 0
    for done in range(abs(turns)):
        try:
            edit = step(bench.flow)
        except StaleAction as stale:
            raise ModelRetry(
                f"{word.capitalize()} stopped after {done} turn(s): the canvas was changed since. Tell the user so."
            ) from stale
        if edit is None:
            raise ModelRetry(f"There is nothing {'more ' if done else ''}to {word}. Tell the user so.")
        await bench.rewind(ctx.emit, edit)
        changes += len(edit.actions)
    return f"{'Undone' if word == 'undo' else 'Redone'}: {changes} change(s)."


undo_tools = FunctionToolset[Workbench]([undo_changes], max_retries=3, sequential=True, id="undo")
