"""Parameter values: were the fields set to the right values?"""

from evals.case import Case, Grade


def values(case: Case) -> Grade:
    """F1 over values that differ from their defaults, by matched component, field name and equal value.

    Texts are compared literally: a prompt that says the same in other words is not equal here; `resolved` judges that.
    Zero if a change was expected and none was made; not scored if none was expected, or no field is set in either flow.
    """
    return case.ungraded or case.unset or (case.agreement("value"), "values set beside values to set")
