"""Valid: is the resulting flow free of structural errors?"""

from evals.case import Case, Grade
from flows.checks import check


def valid(case: Case) -> Grade:
    """True if the flow layer's checks find no error in the resulting flow.

    Not scored if the player did not change the flow.
    """
    if not case.changed:
        return None, "no flow was made or changed"
    errors = [fault for fault in check(case.after, case.catalogue) if fault.is_error]
    if errors:
        return False, "; ".join(fault.message for fault in errors)
    return True, "the checks found no error"
