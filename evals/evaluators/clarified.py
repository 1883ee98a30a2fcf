"""Clarification: did the player ask back, where the request leaves something important open?"""

from evals.attempt import acted
from evals.case import Case, Grade
from evals.oracles.speech_acts import asked_about


def clarified(case: Case) -> Grade:
    """True if, for every message that should be asked back about, a question names what is open and nothing was done.

    Not scored without such a message.
    """
    ambiguous = [number for number, turn in enumerate(case.scenario.turns) if turn.should == "ask"]
    if not ambiguous:
        return None, "nothing had to be asked"
    for number in ambiguous:
        replies = case.attempt.replies(number)
        if not asked_about(case, number):
            return False, f"message {number + 1} was not asked back about"
        if any(acted(reply) for reply in replies):
            return False, f"message {number + 1} was acted on all the same"
    return True, "what was open was asked"
