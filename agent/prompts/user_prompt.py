"""The prompt of a turn: its instructions, and the framed message."""

from dataclasses import replace

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
    if read.intent not in {"build_flow", "component_then_flow"}:
        return _frame(turn, bench).around(turn.text)
    return replace(
        _frame(turn, bench),
        dismissed_plan=turn.conversation.quote_plan(turn.text),
        likely=likely_components(turn.english, bench.catalogue),
        models=[f"{info.name}:{info.models[0]}" for info in turn.services.providers() if info.models],
        wanted_model=":".join(filter(None, (read.provider, read.model))) or None,
    ).around(turn.text)


def _frame(turn: Turn, bench: Workbench) -> Frame:
    """What every message is framed with: the canvas, what was said before, and the proposals."""
    waits = bench.open_offer if bench.proposal is not None else None
    return Frame(
        canvas=bench.flow,
        faults=() if bench.flow.is_empty else errors(bench.check(bench.flow)),
        history=turn.conversation.turns,
        proposal=None if waits is None else (waits, bench.offers[waits]),
        earlier={name: flow for name, flow in bench.offers.items() if name != waits},
    )
