"""The prompt of a turn: its instructions, and the framed message."""

from agent.prompts import prompt
from agent.prompts.framing import Frame, likely_components
from agent.toolsets.selection import WRITES_COMPONENTS
from agent.turn.result import Intent
from agent.turn.state import Turn
from tools.replies import errors
from tools.workbench import Workbench


def instructions(intent: Intent) -> str:
    """The instructions for an intent; those for writing components are included only where needed."""
    parts = ["question" if intent == "question" else "builder"]
    if intent in WRITES_COMPONENTS:
        parts.append("components")
    return "\n\n".join(prompt(part) for part in parts)


def framed_message(turn: Turn, bench: Workbench) -> str:
    """The message after its context; the demo planner reads only the message."""
    if turn.choice.is_demo:
        return turn.text
    read = turn.classification
    faults = () if bench.flow.is_empty else errors(bench.check(bench.flow))
    if read.intent not in {"build_flow", "component_then_flow"}:
        return Frame(canvas=bench.flow, history=turn.conversation.turns, faults=faults).around(turn.text)
    return Frame(
        canvas=bench.flow,
        faults=faults,
        history=turn.conversation.turns,
        dismissed_plan=turn.conversation.quote_plan(turn.text),
        likely=likely_components(turn.english, bench.catalogue),
        models=[f"{info.name}:{info.models[0]}" for info in turn.services.providers() if info.models],
        wanted_model=":".join(filter(None, (read.provider, read.model))) or None,
    ).around(turn.text)
