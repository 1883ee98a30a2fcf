"""Typed-port edge F1: are the right outputs connected to the right inputs?"""

from evals.case import Case, Grade


def edges(case: Case) -> Grade:
    """F1 over connections; one is correct if its components are matched and both of its ports are equal.

    The matching is the one in which most connections and values agree, so a relabelled flow scores the same and any
    rewiring that is no automorphism scores less. Zero if a change was expected and none was made; not scored if none
    was expected, or neither flow has connections.
    """
    if grade := case.ungraded:
        return grade
    if not case.result.edges and not any(target.edges for target in case.targets):
        return None, "there are no connections"
    return case.agreement("edge"), f"{len(case.result.edges)} connections were made"
