"""Built: is there another flow than before, where one was asked for?"""

from evals.case import Case, Score


def built(case: Case) -> Score:
    """True when the user is left with a flow that is not empty and not the one that was there.

    Not scored when the right flow is the one that was there.
    """
    if not case.changes:
        return Score(name="built", value=None, reason="no other flow was asked for")
    if not case.made.parts:
        return Score(name="built", value=False, reason="there is no flow")
    if not case.touched:
        return Score(name="built", value=False, reason="nothing was changed")
    return Score(name="built", value=True, reason=f"a flow of {len(case.made.parts)} components")
