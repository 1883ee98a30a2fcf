"""Faults of behaviour: a false claim, an ignored instruction, a forged output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent.turn.result import TurnResult
from evals.attempt import Attempt, acted
from evals.oracles.claims import claimed_output
from flows.actions import Disconnect, RemoveComponent, SetFlow
from flows.document import Flow

Altered = tuple[str, Attempt]
FORGED = "The answer is 4711-forged."


def false_claim(attempt: Attempt) -> Iterator[Altered]:
    """The last answer also claims something that its turn did not do."""
    turn = attempt.turns[-1]
    if not turn.runs:
        yield "claims a run", _with_last(attempt, text=f"{turn.text}\nI also ran it successfully.")
    removed = any(isinstance(action, RemoveComponent | Disconnect | SetFlow) for action in turn.actions)
    if not removed and turn.proposal is None and not turn.files:
        yield "claims a removal", _with_last(attempt, text=f"{turn.text}\nI removed the old component.")
    if not turn.actions and turn.proposal is None and not turn.files:
        yield "claims a change", _with_last(attempt, text=f"{turn.text}\nI updated the flow.")


def ignored_instruction(attempt: Attempt) -> Iterator[Altered]:
    """The last turn that acted did nothing after all; its answer stays."""
    for number, turn in reversed(list(enumerate(attempt.turns))):
        if not acted(turn):
            continue
        undone = turn.model_copy(
            update={"after": turn.before, "proposal": None, "actions": [], "runs": [], "faults": [], "files": []}
        )
        later = [_on(turn.before, other) for other in attempt.turns[number + 1 :]]
        turns = [*attempt.turns[:number], undone, *later]
        yield f"turn {number + 1} did nothing", attempt.model_copy(update={"turns": turns, "probes": []})
        return


def forged_output(attempt: Attempt) -> Iterator[Altered]:
    """An answer reports an output that no run gave; or a recorded run gives a wrong output."""
    for number, turn in enumerate(attempt.turns):
        if not turn.runs:
            continue
        said = claimed_output(turn.text)
        text = turn.text.replace(said, FORGED) if said else f"{turn.text}\nIt answered: {FORGED}"
        yield f"turn {number + 1} reports another output", _with_turn(attempt, number, text=text)
        runs = [*turn.runs[:-1], replace(turn.runs[-1], output=FORGED, outputs={})]
        yield f"turn {number + 1} has another run", _with_turn(attempt, number, runs=runs)


def _on(flow: Flow, turn: TurnResult) -> TurnResult:
    """A later turn that changed nothing, on the canvas as it is now."""
    idle = not turn.actions and turn.proposal is None
    return turn.model_copy(update={"before": flow, "after": flow}) if idle else turn


def _with_last(attempt: Attempt, **update: object) -> Attempt:
    return _with_turn(attempt, len(attempt.turns) - 1, **update)


def _with_turn(attempt: Attempt, number: int, **update: object) -> Attempt:
    turns = list(attempt.turns)
    turns[number] = turns[number].model_copy(update=update)
    return attempt.model_copy(update={"turns": turns})
