"""Undoing and redoing the turns that changed the canvas, without a model."""

from agent.language.intent import Classification
from agent.language.phrases import phrase
from agent.turn.act import open_workbench
from agent.turn.result import TurnResult
from agent.turn.state import Turn
from flows.actions import StaleAction


async def undo(turn: Turn) -> TurnResult:
    """Undo the last turn that changed the canvas, or say why that is not possible."""
    bench = await open_workbench(turn)
    turn.classification = Classification(intent="build_flow")
    try:
        edit = bench.undo_stack.undo(bench.flow)
    except StaleAction:
        return turn.result("complete", phrase("stale_undo", turn.language))
    if edit is None:
        return turn.result("complete", phrase("no_undo", turn.language))
    await bench.rewind(turn.send, edit)
    return turn.result("complete", phrase("undone", turn.language))


async def redo(turn: Turn) -> TurnResult:
    """Redo the turn that was undone last, or say why that is not possible."""
    bench = await open_workbench(turn)
    turn.classification = Classification(intent="build_flow")
    try:
        edit = bench.undo_stack.redo(bench.flow)
    except StaleAction:
        return turn.result("complete", phrase("stale_redo", turn.language))
    if edit is None:
        return turn.result("complete", phrase("no_redo", turn.language))
    await bench.rewind(turn.send, edit)
    return turn.result("complete", phrase("redone", turn.language))
