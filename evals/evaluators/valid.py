"""Valid: is the resulting flow free of structural errors?"""

from evals.case import Case, Score
from flows.checks import check


def valid(case: Case) -> Score:
    """True when the flow layer's checks find no error in the flow that the user is left with.

    Not scored when the player left the flow as it was.
    """
    if not case.touched:
        return Score(name="valid", value=None, reason="no flow was made or changed")
    errors = [fault for fault in check(case.after, case.catalogue) if fault.is_error]
    if errors:
        return Score(name="valid", value=False, reason="; ".join(fault.message for fault in errors))
    return Score(name="valid", value=True, reason="the checks found no error")
