"""What plain words or an id ask for, done without a model: undo, redo, a proposal accepted or set aside."""

from collections.abc import Callable

from pydantic_ai import ToolApproved

from agent.language.intent import Classification
from agent.language.phrases import phrase
from agent.turn.act import open_workbench
from agent.turn.result import TurnResult
from agent.turn.state import Turn
from flows.actions import StaleAction
from flows.document import Flow
from flows.edits import Edit
from tools.undo_stack import UndoStack


async def undo(turn: Turn) -> TurnResult:
    """Undo the last turn that changed the canvas, or say why that is not possible."""
    return await _rewind(turn, UndoStack.undo, ("undone", "no_undo", "stale_undo"))


async def redo(turn: Turn) -> TurnResult:
    """Redo the turn that was undone last, or say why that is not possible."""
    return await _rewind(turn, UndoStack.redo, ("redone", "no_redo", "stale_redo"))


async def _rewind(
    turn: Turn, take: Callable[[UndoStack, Flow], Edit | None], phrases: tuple[str, str, str]
) -> TurnResult:
    """Apply a step of the undo stack; the phrases say that it was done, that there is none, or that it does not fit."""
    done, nothing, stale = phrases
    bench = await open_workbench(turn)
    turn.classification = Classification(intent="build_flow")
    try:
        edit = take(bench.undo_stack, bench.flow)
    except StaleAction:
        return turn.result("complete", phrase(stale, turn.language))
    if edit is None:
        return turn.result("complete", phrase(nothing, turn.language))
    await bench.rewind(turn.send, edit)
    return turn.result("complete", phrase(done, turn.language))


async def place_proposal(turn: Turn) -> TurnResult:
    """Put the proposal that waits on the canvas."""
    bench = await open_workbench(turn)
    turn.classification = Classification(intent="build_flow")
    await bench.place(turn.send)
    return turn.result("complete", phrase("placed", turn.language))


async def answer_proposals(turn: Turn) -> TurnResult:
    """Do what the request's answers say about proposals; opening the workbench does it."""
    turn.classification = Classification(intent="build_flow")
    await open_workbench(turn)
    accepted = any(isinstance(answer, ToolApproved) for answer in turn.request.answers.values())
    return turn.result("complete", phrase("placed" if accepted else "set_aside", turn.language))
