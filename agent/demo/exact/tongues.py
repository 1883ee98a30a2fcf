"""Requests in Portuguese, Spanish, German and French by their keywords, for the rules that read English.

It is no translation: words that the rules look for become the English ones, and everything else stays as written.
"""

import re
from functools import cache
from pathlib import Path

from agent.language.detect import Language
from agent.language.shipped_yaml import load_shipped


def in_english(masked: str, spoken: Language) -> str:
    """A masked message with the words that the rules look for in English.

    Args:
        masked: the message; its quoted values stand as `⟦n⟧` and stay.
        spoken: its language.
    """
    for pattern, english in _rules().get(spoken, ()):
        masked = pattern.sub(english, masked)
    return masked


def run_asked(masked: str) -> re.Match[str] | None:
    """The end of a message that asks for a run, in languages that `in_english` does not read; its group is the input.

    Args:
        masked: the message; its quoted values stand as `⟦n⟧`.
    """
    found = (pattern.search(masked) for pattern in _runs())
    return next((match for match in found if match is not None), None)


@cache
def _runs() -> list[re.Pattern[str]]:
    patterns = [re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern, _ in _written()["runs"]]
    return [
        one if "input" in one.groupindex else re.compile(f"{one.pattern}(?P<input>)", one.flags) for one in patterns
    ]


@cache
def _rules() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    return {
        language: [
            (re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE | re.DOTALL), english)
            for pattern, english in rules
        ]
        for language, rules in _written().items()
        if language != "runs"
    }


@cache
def _written() -> dict[str, list[tuple[str, str]]]:
    return load_shipped(Path(__file__).with_name("tongues.yaml").read_text(encoding="utf-8"))
