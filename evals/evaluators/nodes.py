"""Node F1: are the right components there?"""

from evals.case import Case, Score


def nodes(case: Case) -> Score:
    """F1 over components, matched by type: 2·matched / (made + wanted), for the nearest right flow.

    Zero when another flow was asked for and the canvas is as it was; not scored when none was asked for.
    Source: van Rijsbergen (1979) for F1; matching as in `evals.oracles.matching`.
    """
    if not case.changes:
        return Score(name="nodes", value=None, reason="no other flow was asked for")
    if not case.touched:
        return Score(name="nodes", value=0.0, reason="nothing was changed")
    value = case.best(lambda comparison: comparison.agreement("part"))
    return Score(name="nodes", value=value, reason=f"{len(case.made.parts)} components were made")
