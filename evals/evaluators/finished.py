"""Finished: did the player finish within its limits?"""

from evals.case import Case, Grade

_LIMITS = {"timeout": "the time was up", "tokens": "the tokens were used up"}


def finished(case: Case) -> Grade:
    """True if no limit stopped the attempt and no turn ended in an error."""
    if case.attempt.stopped is not None:
        return False, _LIMITS[case.attempt.stopped]
    for turn in case.attempt.turns:
        if turn.outcome == "error" and turn.error is not None:
            return False, f"a turn failed: {turn.error.message}"
    return True, "every turn came to an end"
