"""Requests in Portuguese, Spanish, German and French by their keywords, for the rules that read English.

It is no translation: words that the rules look for become the English ones, and everything else stays as written.
"""

import re
from functools import cache, partial
from pathlib import Path

from agent.language.detect import Language
from agent.language.shipped_yaml import load_shipped

_GROUP = re.compile(r"\\g<(\w+)>")
_KEPT = re.compile(r"⟪(\d+)⟫")
"""Where a piece that stays as written was taken out, until every rule has been applied."""


def with_english_keywords(masked: str, spoken: Language) -> str:
    """A masked message with the words that the rules look for in English.

    Args:
        masked: the message; its quoted values stand as `⟦n⟧` and stay, and so does what a named group of a rule holds.
        spoken: its language.
    """
    kept: list[str] = []

    def put(found: re.Match[str], english: str) -> str:
        named = {name: value for name, value in found.groupdict().items() if value is not None}
        kept.extend(named.values())
        held = {name: f"⟪{len(kept) - len(named) + number}⟫" for number, name in enumerate(named)}
        return _GROUP.sub(lambda group: held.get(group[1], ""), english)

    for pattern, english in _rules(spoken):
        masked = pattern.sub(partial(put, english=english), masked)
    while _KEPT.search(masked):
        masked = _KEPT.sub(lambda mark: kept[int(mark[1])], masked)
    return masked


def run_request(masked: str) -> re.Match[str] | None:
    """The end of a message that asks for a run, in languages that `in_english` does not read; its group is the input.

    Args:
        masked: the message; its quoted values stand as `⟦n⟧`.
    """
    found = (pattern.search(masked) for pattern in _runs())
    return next((match for match in found if match is not None), None)


@cache
def _runs() -> list[re.Pattern[str]]:
    written = (pattern if "(?P<input>" in pattern else f"{pattern}(?P<input>)" for pattern, _ in _written()["runs"])
    return [re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in written]


@cache
def _rules(spoken: Language) -> list[tuple[re.Pattern[str], str]]:
    """The rules of one language: compiling those of all takes longer than most answers."""
    return [
        (re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE | re.DOTALL), english)
        for pattern, english in _written().get(spoken, ())
    ]


@cache
def _written() -> dict[str, list[tuple[str, str]]]:
    return load_shipped(Path(__file__).with_name("translations.yaml").read_text(encoding="utf-8"))
