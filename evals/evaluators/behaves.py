"""Behaviour: does the flow give what the reference gives, on inputs that nobody named?"""

from evals.behaviours.outcomes import agree
from evals.case import Case, Grade


def behaves(case: Case) -> Grade:
    """True if the resulting flow gave what the reference gives on every input of the scenario; the reason names the
    first input on which it did not, with both outputs.

    Inputs on which the reference itself fails do not count. Not scored if the scenario declares no inputs, there was no
    flow to run, or the journal is older than the score.
    """
    declared = case.scenario.inputs
    if declared is None:
        return None, "the scenario declares no inputs"
    found = case.attempt.behaviours
    if not found:
        return None, "the flow was not run on the scenario's inputs"
    different = next((one for one in found if not agree(declared, one.given, one.wanted)), None)
    if different is not None:
        return False, str(different)
    return True, f"like the reference on {sum(one.wanted.error is None for one in found)} inputs"
