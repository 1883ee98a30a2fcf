"""Marks: what of an input is looked for in the answers of scripted models, to see that it reached them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Final

from evals.expectation import Expectation

WORDS: Final = 4
"""How many words of a text are looked for."""
CHARACTERS: Final = 40
"""How many characters of it, where it has no spaces."""
SHORT: Final = 3
"""Shorter texts are not looked for: they are in any text."""
_ANSWER: Final = r"‹[0-9a-f]{4}: [^›]*"


def mark_of(text: str) -> str | None:
    """A pattern of how a text begins; None for one that is too short to be found."""
    words = text.split()
    if len(text.strip()) < SHORT:
        return None
    if len(words) == 1:
        return re.escape(words[0][:CHARACTERS])
    return r"\s+".join(re.escape(word) for word in words[:WORDS])


def word(text: str) -> str:
    """A pattern of a text in any case."""
    return f"(?i:{re.escape(text)})"


def made_mark(kind: str, name: str) -> str:
    """A word that is in no other text: what a stand-in of this name says."""
    return f"{kind}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def echo_pattern(marks: Iterable[str]) -> str:
    """The pattern of all marks; of two that begin at one place the longer one is found."""
    return "|".join(sorted(dict.fromkeys(marks), key=lambda mark: (-len(mark), mark))) or r"(?!)"


def answered(mark: str, without: Sequence[str] = ()) -> str:
    """The pattern of a model's answer that holds a mark, and none of some others."""
    if not without:
        return f"{_ANSWER}{mark}[^›]*›"
    other = f"(?:(?!{'|'.join(without)})[^›])*"
    return f"‹[0-9a-f]{{4}}: {other}{mark}{other}›"


def unanswered(mark: str) -> str:
    """The pattern of a text in which no model's answer holds a mark."""
    return rf"(?s)\A(?!.*{answered(mark)})"


def answers_at_least(number: int) -> str:
    """The pattern of a text with the answers of so many different calls of models."""
    pattern = r"‹([0-9a-f]{4}):"
    for count in range(1, number):
        pattern += rf".*‹(?!{'|'.join(f'(?:{chr(92)}{known})' for known in range(1, count + 1))})([0-9a-f]{{4}}):"
    return f"(?s){pattern}"


def together(patterns: Iterable[str]) -> str:
    """The pattern of a text in which each pattern is found, in any order."""
    return "(?s)" + "".join(f"(?=.*{pattern})" for pattern in patterns)


def expects(*patterns: str) -> tuple[Expectation, ...]:
    """An expectation of each pattern."""
    return tuple(Expectation(regex=pattern) for pattern in patterns)
