"""Budget: did the attempt stay within the tokens and calls that the scenario allows?"""

from evals.case import Case, Grade
from evals.oracles.tool_calls import calls


def tokens(case: Case) -> Grade:
    """True if the tokens of the models that played, and the tool calls, are within the scenario's budget.

    Tokens inside flows are the flow's. Not scored without a budget, or if the player shows neither.
    """
    budget, made = case.scenario.budget, calls(case.attempt)
    counted = [
        (what, spent, allowed)
        for what, spent, allowed in (
            ("tokens", case.attempt.tokens, budget.tokens),
            ("calls", None if made is None else len(made), budget.calls),
        )
        if spent is not None and allowed is not None
    ]
    over = [f"{spent} {what}, allowed are {allowed}" for what, spent, allowed in counted if spent > allowed]
    if not counted:
        return None, "there is no budget, or the player does not show what it took"
    return not over, "; ".join(over) or "within the budget"
