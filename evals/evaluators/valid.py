"""Valid: is the resulting flow free of structural errors?"""

from evals.attempt import Attempt
from evals.evaluators import Score
from evals.scenario import Scenario


def valid(_: Scenario, attempt: Attempt) -> Score:
    """True when the checks of the last turn that touched the flow found no error; not scored when none did."""
    touched = [turn for turn in attempt.turns if turn.actions or turn.proposal]
    if not touched:
        return Score(name="valid", value=None, reason="no flow was made or changed")
    errors = [fault for fault in touched[-1].faults if fault.is_error]
    if errors:
        return Score(name="valid", value=False, reason="; ".join(fault.message for fault in errors))
    return Score(name="valid", value=True, reason="the checks found no error")
