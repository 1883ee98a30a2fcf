"""Typed-port edge F1: are the right outputs connected to the right inputs?"""

from evals.case import Case, Score


def edges(case: Case) -> Score:
    """F1 over connections; one is right when its components are matched and both of its ports are equal.

    The matching is the one in which most connections and values agree, so a relabelled flow scores the same and any
    rewiring that is no automorphism scores less. Zero when another flow was asked for and the canvas is as it was; not
    scored when none was asked for, or neither flow has connections.
    """
    if not case.changes:
        return Score(name="edges", value=None, reason="no other flow was asked for")
    if not case.touched:
        return Score(name="edges", value=0.0, reason="nothing was changed")
    if not case.made.links and not any(target.links for target in case.targets):
        return Score(name="edges", value=None, reason="there are no connections")
    value = case.best(lambda comparison: comparison.agreement("link"))
    return Score(name="edges", value=value, reason=f"{len(case.made.links)} connections were made")
