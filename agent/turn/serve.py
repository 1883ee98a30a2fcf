"""Answering a message of its own: classified first, then answered or acted on."""

from agent.language.requests import step_count
from agent.prompts.user_prompt import framed_message
from agent.turn.act import act, open_workbench
from agent.turn.result import Intent, TurnResult
from agent.turn.state import Turn
from tools.events import Progress, Step

MANY_STEPS = 2
"""With more steps than this, a message counts as compound."""

_COMPOUND: tuple[Step, str] = ("orchestrating", "Orchestrating...")
_STEPS: dict[Intent, tuple[Step, str]] = {
    "build_flow": ("generating_flow", "Generating flow..."),
    "component_then_flow": _COMPOUND,
    "generate_component": ("generating_component", "Generating component..."),
    "run_flow": ("generating", "Preparing the run..."),
    "manage_files": ("generating_document", "Generating document..."),
}


async def serve(turn: Turn) -> TurnResult:
    """Answer a message, or act on it."""
    if not turn.classified:
        await turn.classify()
    if turn.classification.intent == "off_topic":
        return turn.result("refused", turn.refusal)
    bench = await open_workbench(turn)
    if turn.classification.intent != "question":
        await turn.send(_first_step(turn))
    return await act(turn, bench, framed_message(turn, bench))


def _first_step(turn: Turn) -> Progress:
    """The first progress event: the intent of the message, or that it asks for several things."""
    intent = turn.classification.intent
    if turn.only_reads_files:
        return Progress(step="generating", message="Reading your files...")
    compound = (intent == "build_flow" and turn.runs) or step_count(turn.english) > MANY_STEPS
    step, message = _COMPOUND if compound else _STEPS[intent]
    return Progress(step=step, message=message)
