"""Clarification: was asked back, where the request leaves open what matters?"""

from evals.case import Case, Score
from evals.oracles.speech_acts import asks


def clarified(case: Case) -> Score:
    """True when, for every message that should be asked back about, the answer asks something and nothing was done.

    Not scored when there is no such message.
    """
    open_questions = [number for number, turn in enumerate(case.scenario.turns) if turn.should == "ask"]
    if not open_questions:
        return Score(name="clarified", value=None, reason="nothing had to be asked")
    for number in open_questions:
        replies = case.attempt.replies(number)
        if not any(asks(reply.text) for reply in replies):
            return Score(name="clarified", value=False, reason=f"message {number + 1} was not asked back about")
        if any(reply.actions or reply.proposal is not None or reply.runs for reply in replies):
            return Score(name="clarified", value=False, reason=f"message {number + 1} was acted on all the same")
    return Score(name="clarified", value=True, reason="what was open was asked")
