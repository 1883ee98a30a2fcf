"""The vocabulary of search: paraphrases of components, synonyms and translations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from flows.search.tokenizer import fold, stem

_FOLDER = Path(__file__).parent / "words"
_LONGEST_ENDING = 9

_CONVERSION = (
    r"(?i)\b(?:table|json|data|dataframe|rows?|records?|objects?|message)\b(?: \w+)?(?: in)?to (?:\w+ )?(?:%s)\b"
)

QUERY_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"https?://|\bwww\."), "url web page"),
    (re.compile(r"\d\s*[-+*/x×÷^]\s*\d|\d\s*%"), "calculator arithmetic"),
    (re.compile(r"(?i)\b\d{1,2}(?::\d\d)?\s?(?:am|pm|uhr|o'clock)\b"), "schedule time"),
    (re.compile(r"[\d*]\S*(?: [\d*]\S*){3} [\d*]\S*"), "cron schedule"),
    (re.compile(r"\{\w+\}"), "template variables"),
    (re.compile(_CONVERSION % "table|json|dataframe|data|message|object|list"), "convert"),
    (re.compile(_CONVERSION % "text|string|sentences?|prose|markdown"), "parser"),
    (re.compile(r"(?i)\bselect\b.+\bfrom\b|\binsert into\b"), "sql query"),
)
"""Patterns in a query that stand for words."""


def entries(text: str) -> Mapping[str, str]:
    """Return the text after each `name:` at the start of a line; indented lines continue it, `#` starts a comment."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            found[name] += f" {line.strip()}"
        else:
            name, _, rest = line.partition(":")
            found[name] = rest.strip()
    return found


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


_SMALL = {name: frozenset(held.split()) for name, held in entries(_read("small.txt")).items()}
SMALL_WORDS, WEAK_WORDS = _SMALL["small"], _SMALL["weak"]
"""English stop words, and words with little meaning."""
FOREIGN_SMALL_WORDS = _SMALL["foreign"]
"""Portuguese, Spanish, German and French stop words, which identify the language."""


@cache
def paraphrases() -> Mapping[str, tuple[str, ...]]:
    """The paraphrases of components, by type or class name."""
    found = entries(_read("paraphrases.txt"))
    return MappingProxyType(
        {name: tuple(filter(None, map(str.strip, said.split(";")))) for name, said in found.items()}
    )


@cache
def synonyms() -> Mapping[str, frozenset[str]]:
    """The synonyms of a stem, as stems."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in _read("synonyms.txt").splitlines():
        if line and not line.startswith("#"):
            group = {stem(word.strip()) for word in line.split(",")}
            for member in group:
                found[member] |= group - {member}
    return MappingProxyType({word: frozenset(others) for word, others in found.items()})


@cache
def _translations() -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    whole: dict[str, tuple[str, ...]] = {}
    beginnings: dict[str, tuple[str, ...]] = {}
    for names, meaning in entries(_read("translations.txt")).items():
        for name in names.split(","):
            word = fold(name.strip())
            place, key = (beginnings, word[:-1]) if word.endswith("*") else (whole, word)
            place[key] = (*place.get(key, ()), *meaning.split())
    return whole, beginnings


def translations(word: str) -> tuple[str, ...]:
    """Return the English words for a word of another language (in lower case, without accents), or none."""
    whole, beginnings = _translations()
    found = whole.get(word)
    if found is None and word.endswith("s"):
        found = whole.get(word[:-1])
    if found is not None:
        return found
    for end in range(len(word), max(2, len(word) - _LONGEST_ENDING), -1):
        if word[:end] in beginnings:
            return beginnings[word[:end]]
    return _compound(word)


def _compound(word: str) -> tuple[str, ...]:
    """Return the English words for a compound of two known words, as in German."""
    whole, beginnings = _translations()
    for at in range(4, len(word) - 3):
        last = whole.get(word[at:]) or beginnings.get(word[at:])
        if last:
            for first in (word[:at], word[: at - 1]):
                if found := whole.get(first) or beginnings.get(first):
                    return (*found, *last)
    return ()
