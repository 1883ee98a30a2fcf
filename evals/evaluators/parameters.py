"""Parameter names: were the right fields set, whatever to?"""

from evals.case import Case, Score
from evals.oracles.facts import Comparison, f1


def parameters(case: Case) -> Score:
    """F1 over the fields that differ from their defaults, by matched component and field name.

    Zero when another flow was asked for and the canvas is as it was; not scored when none was asked for, or no field is
    set in either flow.
    """
    if not case.changes:
        return Score(name="parameters", value=None, reason="no other flow was asked for")
    if not case.touched:
        return Score(name="parameters", value=0.0, reason="nothing was changed")
    if not any(part.values for flow in (case.made, *case.targets) for part in flow.parts):
        return Score(name="parameters", value=None, reason="no field is set")
    return Score(name="parameters", value=case.best(_agreement), reason="fields set beside fields to set")


def _agreement(comparison: Comparison) -> float:
    made, wanted = (
        {fact.place for fact in facts if fact.kind == "value"}
        for facts in (comparison.made_facts, comparison.target_facts)
    )
    return f1(len(made & wanted), len(made), len(wanted))
