"""Language: does the player answer in the user's language?"""

from evals.case import Case, Score
from evals.oracles.language import detect_language


def language(case: Case) -> Score:
    """True when every answer is in the language of its message (`evals.oracles.language`).

    Not scored when the language of a message or of every answer cannot be detected, as with very short ones.
    """
    compared = 0
    for number, turn in enumerate(case.scenario.turns):
        spoken = detect_language(turn.say)
        for reply in case.attempt.replies(number):
            heard = detect_language(reply.text)
            if spoken is None or heard is None:
                continue
            compared += 1
            if heard != spoken:
                return Score(name="language", value=False, reason=f"asked in {spoken}, answered in {heard}")
    if not compared:
        return Score(name="language", value=None, reason="the languages cannot be told")
    return Score(name="language", value=True, reason="the answers are in the user's language")
