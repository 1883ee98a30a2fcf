"""Whether an answer asks back or declines, in the languages of `words.yaml`."""

from __future__ import annotations

from typing import Final

from evals.case import Case
from evals.replies.clauses import own_words
from evals.replies.points import names_point, names_scope, questions
from evals.replies.words import compiled

_DECLINES: Final = compiled("declines")


def asked_about(case: Case, message: int) -> bool:
    """Whether a question of the answer to a message, by number from 0, names the point that the message leaves open."""
    turn = case.scenario.turns[message]
    asked = [question for reply in case.attempt.replies(message) for question in questions(reply.text)]
    return any(names_point(question, turn.say, turn.points, _names(case)) for question in asked)


def refused(case: Case, message: int) -> bool:
    """Whether a message, by number from 0, was declined: the turn says so itself, or its text does and names what it is
    about or what the assistant is for."""
    turn, replies = case.scenario.turns[message], case.attempt.replies(message)
    if replies and replies[-1].outcome == "refused":
        return True
    said = "\n".join(reply.text for reply in replies)
    own = own_words(said, turn.say)
    return declines(own) and (names_point(own, turn.say, turn.points, _names(case)) or names_scope(own))


def asks(text: str) -> bool:
    """Whether a text asks something, outside quotes and addresses."""
    return bool(questions(text))


def declines(text: str) -> bool:
    """Whether a text says that something cannot or will not be done."""
    return _DECLINES.search(text) is not None


def _names(case: Case) -> set[str]:
    """What the user's canvas and files are called."""
    names = {name for node in case.before.components for name in (node.display_name, node.type)}
    return names | set(case.scenario.files)
