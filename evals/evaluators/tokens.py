"""Budget: did the attempt stay within the tokens and calls that the scenario allows?"""

from evals.case import Case, Score
from evals.oracles.tool_calls import calls


def tokens(case: Case) -> Score:
    """True when the tokens of the models that played, and the tool calls, are within the scenario's budget.

    Tokens inside flows are the flow's. Not scored without a budget, or when the player shows neither.
    """
    budget, spent, made = case.scenario.budget, case.attempt.tokens, calls(case.attempt)
    over: list[str] = []
    shown = False
    if budget.tokens is not None and spent is not None:
        shown = True
        over += [f"{spent} tokens, allowed are {budget.tokens}"] if spent > budget.tokens else []
    if budget.calls is not None and made is not None:
        shown = True
        over += [f"{len(made)} calls, allowed are {budget.calls}"] if len(made) > budget.calls else []
    if not shown:
        return Score(name="tokens", value=None, reason="there is no budget, or the player does not show what it took")
    return Score(name="tokens", value=not over, reason="; ".join(over) or "within the budget")
