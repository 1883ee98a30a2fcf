"""Undoing the turns that changed the canvas, newest first, and redoing them."""

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows.actions import Arrange, Disconnect, StaleAction
from flows.describe.actions import describe_action
from flows.diff import diff
from flows.document import Flow
from tools.approvals import NOT_ASKED, RemovalApproval
from tools.consent.ask import ask
from tools.consent.declared import has_effects
from tools.consent.rules import Act, uncovered
from tools.consequences import reports_new_errors
from tools.workbench import Workbench

SHOWN = 12
"""How many changes the answer names."""


@has_effects("undo")
@reports_new_errors
async def undo_changes(ctx: RunContext[Workbench], turns: int = 1) -> str:
    """Take back every change of the last turn that changed the canvas.

    Args:
        turns: how many turns to go back; a negative number makes as many that were taken back again.
    """
    bench = ctx.deps
    _ask_to_undo(ctx, turns)
    step, word = (bench.undo_stack.undo, "undo") if turns > 0 else (bench.undo_stack.redo, "redo")
    before = bench.flow
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
    return f"{'Undone' if word == 'undo' else 'Redone'}. {_effect(before, bench.flow)}"


def _effect(before: Flow, after: Flow) -> str:
    """What going back has changed in the end, for the model; moves are left out."""
    seen = [action for action in diff(before, after) if not isinstance(action, Arrange)]
    told = [describe_action(action, before if isinstance(action, Disconnect) else after) for action in seen[:SHOWN]]
    more = [f"and {len(seen) - SHOWN} more"] if len(seen) > SHOWN else []
    return f"In effect: {'; '.join([*told, *more])}." if told else "Nothing has changed in the end."


def _ask_to_undo(ctx: RunContext[Workbench], turns: int) -> None:
    """Return when the user's words ask to go back, or nothing would change; the tool says what cannot be undone."""
    bench = ctx.deps
    if not uncovered(bench, [Act("undo", str(turns))]):
        return
    stack, flow = bench.undo_stack.model_copy(), bench.flow
    for _ in range(abs(turns)):
        try:
            edit = stack.undo(flow) if turns > 0 else stack.redo(flow)
        except StaleAction:
            break
        if edit is None:
            break
        flow = edit.flow
    before = bench.flow
    changed = [describe_action(one, before if isinstance(one, Disconnect) else flow) for one in diff(before, flow)]
    if changed:
        title = f"Undo the changes of {turns} turn(s)" if turns > 0 else f"Redo the changes of {-turns} turn(s)"
        ask(ctx, RemovalApproval(title=title, targets=changed[:SHOWN], why=NOT_ASKED))


undo_tools = FunctionToolset[Workbench]([undo_changes], max_retries=3, sequential=True, id="undo")
