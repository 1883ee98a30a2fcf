"""The planner's vocabulary: which concepts a message has, and in which language it is."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

from agent.language.detect import best_language
from agent.language.shipped_yaml import load_shipped
from agent.language.votes import elected

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "ja", "zh")
_OF_NO_LANGUAGE = frozenset(
    {
        *("answered_to", "answering", "way", "leads_to_answer", "between", "no_model"),
        *("the_input", "the_output", "the_model", "the_prompt"),
    }
)
"""Concepts whose words are too short to tell a language, or much the same in several: "a" is one of many."""
_UNSPACED = frozenset({"ja", "zh"})
_KANA = re.compile(r"[぀-ヿ]")
_HAN = re.compile(r"[一-鿿]")
_NAME = re.compile(r"(?<=\w\s)[A-Z]\w+")
"""A word with a capital within a sentence: a name, such as "Answer", and no English of the user's."""
_BETWEEN = re.compile(r"[\s*']+| ?\.\. ?")
"""Separates the pieces of an alternative that a text must have letter for letter."""


class Word:
    """Searches texts for some alternatives; its pattern is compiled for the first text that may have one of them.

    Most messages have no word of most concepts and languages, and compiling all patterns takes longer than the answer.
    """

    def __init__(self, alternatives: str, language: str) -> None:
        self._forms = [fold(one.strip()) for one in alternatives.split("|") if one.strip()]
        self._starts = [_BETWEEN.split(form, maxsplit=1)[0] for form in self._forms]
        self._language = language

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern of all alternatives."""
        return _pattern(self._forms, self._language)

    def finditer(self, folded: str) -> Iterator[re.Match[str]]:
        """Where they stand in a folded text."""
        starting = (form for start, form in zip(self._starts, self._forms, strict=True) if start in folded)
        may_be = any(all(piece in folded for piece in _BETWEEN.split(form)) for form in starting)
        return self.pattern.finditer(folded) if may_be else iter(())

    def is_in(self, folded: str) -> bool:
        """Whether one of them stands in a folded text."""
        return next(self.finditer(folded), None) is not None


Words = Mapping[str, Word]
"""What is looked for in each language."""


def fold(text: str) -> str:
    """A text in lower case and without accents, letter for letter, so that places in it are places in the text."""
    return text.lower() if text.isascii() else "".join(_folded(letter) for letter in text)


@cache
def _folded(letter: str) -> str:
    if _KANA.match(letter):
        return letter
    plain = unicodedata.normalize("NFKD", letter.lower())[:1]
    return plain if len(plain) == 1 else letter


def words(written: Mapping[str, str]) -> Words:
    """The patterns of words as they are written in the data: `build* | set up | pull .. out` for each language."""
    return {language: Word(alternatives, language) for language, alternatives in written.items()}


def found(patterns: Words, folded: str, language: str) -> list[re.Match[str]]:
    """Where words stand in a folded text: those of its language and those of English."""
    languages = dict.fromkeys((language, "en"))
    return [match for code in languages if code in patterns for match in patterns[code].finditer(folded)]


@cache
def vocabulary() -> Mapping[str, Words]:
    """The concepts of `words.yaml`."""
    text = Path(__file__).with_name("words.yaml").read_text(encoding="utf-8")
    return {concept: words(written) for concept, written in load_shipped(text).items()}


def message_language(message: str, known: Iterable[Words] = ()) -> str:
    """The language of a message, by its script, its words and fastText's model.

    Args:
        message: what the user wrote.
        known: further words that speak for a language, such as those of the recipes.
    """
    if _KANA.search(message):
        return "ja"
    folded = fold(message)
    every = (*(one for concept, one in vocabulary().items() if concept not in _OF_NO_LANGUAGE), *known)
    if _HAN.search(message):
        count = {code: sum(code in one and one[code].is_in(folded) for one in every) for code in ("zh", "ja")}
        return "ja" if count["ja"] > count["zh"] else "zh"
    votes, own = _votes(message, folded, every, [vocabulary()[concept] for concept in _OF_NO_LANGUAGE])
    if not any(votes.values()) and len(message.split()) == 1:
        return "en"  # "no" may be of several languages
    return elected(votes, own, len(message.split()), lambda: best_language(message, LANGUAGES))


def _votes(
    message: str, folded: str, every: Sequence[Words], silent: Sequence[Words]
) -> tuple[dict[str, float], list[str]]:
    """How many concepts speak for each language, a concept's vote divided among all that have the word it was said in.

    Args:
        message: what the user wrote.
        folded: it in the form that words are looked for in.
        every: the concepts that speak for a language.
        silent: those that do not, whose words are words of a language all the same.

    Returns:
        The votes, and the languages that have a word of the message alone.
    """
    texts = {"en": fold(_NAME.sub(lambda name: " " * len(name[0]), message))}
    said = [
        {
            code: {match[0] for match in one[code].finditer(texts.get(code, folded))}
            for code in LANGUAGES[:6]
            if code in one
        }
        for one in (*every, *silent)
    ]
    words = {code: set[str]().union(*(one.get(code, ()) for one in said)) for code in LANGUAGES[:6]}
    votes = dict.fromkeys(words, 0.0)
    for one in said[: len(every)]:
        having = [code for code in votes if any(those & words[code] for those in one.values())]
        for code in having:
            votes[code] += 1 / len(having)
    return votes, [code for code in words if words[code].difference(*(words[one] for one in words if one != code))]


def _pattern(alternatives: Sequence[str], language: str) -> re.Pattern[str]:
    forms = [_form(one) for one in alternatives]
    joined = "|".join(sorted(forms, key=len, reverse=True))
    if language not in _UNSPACED:
        return re.compile(rf"(?<!\w)(?:{joined})(?!\w)")
    bounded = "|".join(rf"(?<![a-z])(?:{form})(?![a-z])" if form.isascii() else form for form in forms)
    return re.compile(bounded)


def _form(alternative: str) -> str:
    escaped = re.escape(alternative).replace(r"\ \.\.\ ", r"\b.{1,40}?\b").replace(r"\ \.\.", r"\b.{0,40}")
    return escaped.replace(r"\*", r"\w*").replace(r"\ ", r"\s+").replace("'", "['’]")
