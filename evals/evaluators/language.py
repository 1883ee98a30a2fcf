"""Language: does the player answer in the user's language?"""

from agent.language.detect import detect_language
from evals.case import Case, Grade


def language(case: Case) -> Grade:
    """True when every answer is in the language of its message (`agent.language.detect`).

    Not scored when the language of a message or of every answer cannot be detected, as with very short ones.
    """
    compared = 0
    for number, turn in enumerate(case.scenario.turns):
        message_language = detect_language(turn.say)
        for reply in case.attempt.replies(number):
            answer_language = detect_language(reply.text)
            if message_language is None or answer_language is None:
                continue
            compared += 1
            if answer_language != message_language:
                return False, f"asked in {message_language}, answered in {answer_language}"
    if not compared:
        return None, "the languages cannot be detected"
    return True, "the answers are in the user's language"
