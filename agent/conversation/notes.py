"""What stands in the history beside an answer: how a turn that has none ended, and what ran."""

from agent.turn.result import TurnResult
from tools.effects import RunEffect
from tools.replies import clip

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
