"""Undoing the last turn that changed the canvas, without a model."""

from agent.language.intent import Classification
from agent.language.phrases import phrase
from agent.turn.act import open_workbench
from agent.turn.result import TurnResult
from agent.turn.state import Turn
from flows.actions import StaleAction
from tools.toolsets.undo import undo_edit


async def undo(turn: Turn) -> TurnResult:
    """Undo the last turn's changes, or say why that is not possible."""
    bench = await open_workbench(turn)
    turn.classification = Classification(intent="build_flow")
    if not bench.undoable:
        return turn.result("complete", phrase("no_undo", turn.language))
    try:
        edit = undo_edit(bench.flow, bench.undoable)
    except StaleAction:
        return turn.result("complete", phrase("stale_undo", turn.language))
    await bench.commit(turn.send, edit)
    return turn.result("complete", phrase("undone", turn.language))
