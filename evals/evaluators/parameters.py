"""Parameter names: were the right fields set, whatever their values?"""

from evals.case import Case, Grade
from evals.oracles.facts import Comparison, f1


def parameters(case: Case) -> Grade:
    """F1 over the fields that differ from their defaults, by matched component and field name.

    Zero if a change was expected and none was made; not scored if none was expected, or no field is set in either flow.
    """
    if grade := case.ungraded or case.unset:
        return grade
    return case.best(_agreement), "fields set, compared with those to set"


def _agreement(comparison: Comparison) -> float:
    actual, expected = (
        {fact.place for fact in facts if fact.kind == "value"}
        for facts in (comparison.result_facts, comparison.target_facts)
    )
    return f1(len(actual & expected), len(actual), len(expected))
