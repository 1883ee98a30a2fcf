"""Built: did the player change or propose anything at all?"""

from evals.attempt import Attempt
from evals.evaluators import Score
from evals.scenario import Scenario


def built(_: Scenario, attempt: Attempt) -> Score:
    """True when some turn left a change or a proposal, and the user is left with a flow that is not empty."""
    last = attempt.turns[-1]
    if last.outcome == "error":
        error = last.error
        return Score(name="built", value=False, reason=f"the last turn failed: {error.message if error else 'unknown'}")
    if last.flow.is_empty:
        return Score(name="built", value=False, reason="there is no flow")
    if not any(turn.actions or turn.proposal for turn in attempt.turns):
        return Score(name="built", value=False, reason="nothing was changed")
    nodes = sum(not node.is_note for node in last.flow.nodes)
    return Score(name="built", value=True, reason=f"a flow of {nodes} components")
