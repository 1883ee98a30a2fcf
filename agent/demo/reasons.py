"""Reasons in the user's language: English sentences of rules, checks and runs, by the templates of `reasons.yaml`."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from agent.demo.replies import reply
from agent.language.shipped_yaml import load_shipped

_LIMIT = 2_000
"""Characters of a reason that are read: its time grows faster than its length."""
_HOLE = re.compile(r"\\\{(\w+)\\\}")
_ANYTHING = r"(?P<{}>(?:(?!(?<=[.!?])\s)[^\n]){{1,300}}?)"
"""What fills a hole: up to the end of a sentence."""
_SENTENCE = re.compile(r".+?(?:(?<=[.!?])(?=\s)|(?=\n)|$)", re.DOTALL)
_OR = re.compile(r"(?<=['\"]) or (?=['\"])")


def reason(text: str, language: str) -> str:
    """A reason in a language; what has no translation is marked as English.

    Args:
        text: one or more English sentences.
        language: the user's language.
    """
    if language == "en":
        return text
    said, english = _translated(text, language)
    return " ".join([*said, *([reply("in_english", language, text=" ".join(english))] if english else [])])


def whole_reason(text: str, language: str) -> str:
    """A reason in a language where all of it has a translation, else as it is.

    Args:
        text: one or more English sentences.
        language: the user's language.
    """
    said, english = ([], [text]) if language == "en" else _translated(text, language)
    return text if english else " ".join(said)


def _translated(text: str, language: str) -> tuple[list[str], list[str]]:
    """The sentences of a text in a language, and those that have no translation."""
    said: list[str] = []
    english: list[str] = []
    rest = text[:_LIMIT].strip()
    while rest:
        matches = ((pattern.match(rest), written) for pattern, written in _templates())
        known = next(((match, written) for match, written in matches if match is not None), None)
        if known is None:
            sentence = _SENTENCE.match(rest)
            end = len(rest) if sentence is None else sentence.end()
            english.append(rest[:end].strip())
        else:
            match, translations = known
            end = match.end()
            holes = {name: _OR.sub(", ", value) for name, value in match.groupdict().items()}
            said.append(translations[language].format(**holes))
        rest = rest[end:].strip()
    return said, english


@cache
def _templates() -> list[tuple[re.Pattern[str], Mapping[str, str]]]:
    """The patterns of the English sentences with their translations, the most words first."""
    written: list[dict[str, str]] = load_shipped(Path(__file__).with_name("reasons.yaml").read_text(encoding="utf-8"))
    longest = sorted(written, key=lambda one: len(_HOLE.sub("", re.escape(one["en"]))), reverse=True)
    return [(_pattern(one["en"]), one) for one in longest]


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(_HOLE.sub(lambda hole: _ANYTHING.format(hole[1]), re.escape(template)) + r"(?=\s|$)")
