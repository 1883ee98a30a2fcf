"""What is noted of a turn: beside its answer, how it ended and what ran; for later turns, what they may undo or ask."""

from collections.abc import Mapping

from pydantic_ai import ToolApproved

from agent.conversation.memory import ConversationState, Pending
from agent.conversation.pending.resuming import approved_hosts
from agent.turn.request import Answer
from agent.turn.result import TurnResult
from flows.actions import SetFlow
from tools.consent.hosts import hosts_to_ask
from tools.consent.install import refused_bundles
from tools.effects import RunEffect
from tools.replies import clip
from tools.workbench import Workbench

LIMIT = 300
"""Characters of a note."""

NOTES = 6
"""How many notes a turn has at most."""


def notes_of(result: TurnResult) -> list[str]:
    """Notes about a turn for the history, in English; the first says how it ended if it has no answer.

    Args:
        result: the turn's result.
    """
    notes: list[str] = []
    done = clip("; ".join(result.record.text.splitlines()), LIMIT)
    match result.outcome:
        case "cancelled":
            notes.append(f"Interrupted before the end. Done until then: {done or 'nothing'}")
        case "error":
            why = "" if result.error is None else result.error.message
            notes.append(f"Failed: {clip(why, LIMIT)} Done until then: {done or 'nothing'}")
        case _:
            pass
    notes += [_run(run) for run in result.record.runs if run.by == "user"]
    return notes[:NOTES]


def _run(run: RunEffect) -> str:
    given = "" if run.input is None else f" with {clip(run.input, LIMIT // 3)!r}"
    if run.untrusted_code:
        given += ", by its own account"
    if run.error is not None:
        return f"Ran{given}; it failed: {clip(run.error, LIMIT)}"
    return f"Ran{given}; output: {clip(run.output or '(none)', LIMIT)!r}"


def note_effects(
    state: ConversationState,
    result: TurnResult,
    bench: Workbench,
    origin: int,
    resumed: Pending | None,
    answered: Mapping[str, Answer],
) -> None:
    """Note what can be undone, which proposals are left, and what has to be asked or not to be asked again.

    Args:
        state: the conversation.
        result: the turn's result.
        bench: its workbench.
        origin: the number of the turn that began the work.
        resumed: the suspended turn that it resumed.
        answered: the user's decisions about proposals.
    """
    state.approved_hosts |= approved_hosts(resumed)
    state.foreign_hosts = (state.foreign_hosts - bench.allowed_hosts) | hosts_to_ask(bench)
    state.refused_bundles = refused_bundles(bench)
    if bench.rewound and bench.rewound == len(bench.actions):
        state.undo_stack = bench.undo_stack
    else:
        state.undo_stack.record(origin, result.actions)
    for name, answer in answered.items():
        if isinstance(answer, ToolApproved):
            state.offers.drop(name)
    if result.outcome == "pending":
        return  # the suspended turn has its proposal
    if result.proposal is not None:
        state.offers.add(origin, result.proposal, result.after)
    elif bench.proposal is None:
        waits = state.offers.open
        if waits is not None and any(isinstance(action, SetFlow) for action in bench.actions):
            state.offers.drop(waits.id)
        state.offers.close()
