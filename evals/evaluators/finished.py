"""Finished: did the player come to an end by itself?"""

from evals.case import Case, Score

_WORDS = {"timeout": "the time was up", "tokens": "the tokens were used up"}


def finished(case: Case) -> Score:
    """True when no limit stopped the attempt and no turn ended in an error."""
    stopped = case.attempt.stopped
    if stopped is not None:
        return Score(name="finished", value=False, reason=_WORDS[stopped])
    error = next((turn.error for turn in case.attempt.turns if turn.outcome == "error"), None)
    if error is not None:
        return Score(name="finished", value=False, reason=f"a turn failed: {error.message}")
    return Score(name="finished", value=True, reason="every turn came to an end")
