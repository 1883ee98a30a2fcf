"""Deciding about a proposal of an earlier turn in plain words or by its id, without a model."""

from pydantic_ai import ToolApproved

from agent.language.intent import Classification
from agent.language.phrases import phrase
from agent.turn.act import open_workbench
from agent.turn.result import TurnResult
from agent.turn.state import Turn


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
