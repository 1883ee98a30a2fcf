"""The planner's vocabulary: which concepts a message has, and in which language it is."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import yaml

from agent.language.detect import best_language

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "ja", "zh")
_SURE_WORDS = 4
"""From how many further words on the detected language counts in full."""
_UNSPACED = frozenset({"ja", "zh"})
_KANA = re.compile(r"[぀-ヿ]")
_HAN = re.compile(r"[一-鿿]")
_NOTHING = re.compile(r"(?!)")

Words = Mapping[str, re.Pattern[str]]
"""A pattern for each language."""


def fold(text: str) -> str:
    """A text in lower case and without accents, letter for letter, so that places in it are places in the text."""
    return "".join(_folded(letter) for letter in text)


@cache
def _folded(letter: str) -> str:
    if _KANA.match(letter):
        return letter
    plain = unicodedata.normalize("NFKD", letter.lower())[:1]
    return plain if len(plain) == 1 else letter


def words(written: Mapping[str, str]) -> Words:
    """The patterns of words as they are written in the data: `build* | set up | pull .. out` for each language."""
    return {language: _pattern(alternatives, language) for language, alternatives in written.items()}


def found(patterns: Words, folded: str, language: str) -> list[re.Match[str]]:
    """Where words stand in a folded text: those of its language and those of English."""
    languages = dict.fromkeys((language, "en"))
    return [match for code in languages for match in patterns.get(code, _NOTHING).finditer(folded)]


@cache
def vocabulary() -> Mapping[str, Words]:
    """The concepts of `words.yaml`."""
    text = Path(__file__).with_name("words.yaml").read_text(encoding="utf-8")
    return {concept: words(written) for concept, written in yaml.safe_load(text).items()}


def spoken(message: str, known: Iterable[Words] = ()) -> str:
    """The language of a message, by its script, its words and fastText's model.

    Args:
        message: what the user wrote.
        known: further words that speak for a language, such as those of the recipes.
    """
    if _KANA.search(message):
        return "ja"
    folded = fold(message)
    every = (*vocabulary().values(), *known)
    if _HAN.search(message):
        said = {code: sum(code in one and bool(one[code].search(folded)) for one in every) for code in ("zh", "ja")}
        return "ja" if said["ja"] > said["zh"] else "zh"
    votes: dict[str, float] = dict.fromkeys(LANGUAGES[:6], 0.0)
    for patterns in every:
        having = [code for code in votes if (pattern := patterns.get(code)) is not None and pattern.search(folded)]
        for code in having:
            votes[code] += 1 / len(having)
    if not any(votes.values()) and len(message.split()) == 1:
        return "en"  # "no" may be of several languages
    detected, probability = best_language(message, LANGUAGES)
    if detected is not None and detected in votes:
        votes[detected] += (0.5 + 2 * probability) * min(1, (len(message.split()) - 1) / _SURE_WORDS)
    best = max(votes, key=lambda code: votes[code])
    return best if votes[best] > 0 else "en"


def _pattern(alternatives: str, language: str) -> re.Pattern[str]:
    forms = [_form(fold(one.strip())) for one in alternatives.split("|") if one.strip()]
    joined = "|".join(sorted(forms, key=len, reverse=True))
    if language not in _UNSPACED:
        return re.compile(rf"(?<!\w)(?:{joined})(?!\w)")
    bounded = "|".join(rf"(?<![a-z])(?:{form})(?![a-z])" if form.isascii() else form for form in forms)
    return re.compile(bounded)


def _form(alternative: str) -> str:
    escaped = re.escape(alternative).replace(r"\ \.\.\ ", r"\b.{1,40}?\b").replace(r"\ \.\.", r"\b.{0,40}")
    return escaped.replace(r"\*", r"\w*").replace(r"\ ", r"\s+").replace("'", "['’]")
