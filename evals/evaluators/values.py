"""Parameter values: were the fields set to the right values?"""

from evals.case import Case, Score


def values(case: Case) -> Score:
    """F1 over values that differ from their defaults, by matched component, field name and equal value.

    Wording is compared to the letter: a prompt that says the same in other words is not equal here, and `resolved`
    tells whether it does. Zero when another flow was asked for and the canvas is as it was; not scored when none was
    asked for, or no field is set in either flow.
    """
    if not case.changes:
        return Score(name="values", value=None, reason="no other flow was asked for")
    if not case.touched:
        return Score(name="values", value=0.0, reason="nothing was changed")
    if not any(part.values for flow in (case.made, *case.targets) for part in flow.parts):
        return Score(name="values", value=None, reason="no field is set")
    value = case.best(lambda comparison: comparison.agreement("value"))
    return Score(name="values", value=value, reason="values set beside values to set")
