"""Built: is there a new flow, where one was asked for?"""

from evals.case import Case, Grade


def built(case: Case) -> Grade:
    """True if the resulting flow is not empty and differs from the one at the start.

    Not scored if no change was expected.
    """
    if not case.change_expected:
        return None, "no other flow was asked for"
    if not case.result.nodes:
        return False, "there is no flow"
    if not case.changed:
        return False, "nothing was changed"
    return True, f"a flow of {len(case.result.nodes)} components"
