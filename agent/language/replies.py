"""Plain replies: what a short message answers to a question that waits, decided by a table of phrases."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias, cast
from unicodedata import category, combining, normalize

from agent.language.shipped_yaml import load_shipped

PlainReply: TypeAlias = Literal["approve", "deny"]
"""What a plain reply means."""

READ_CHARACTERS = 80
"""A longer message is not a plain reply."""

UNSPACED = frozenset({"ja", "zh"})
"""The languages that put no spaces between words."""

_ACCENTS = range(0x300, 0x370)
"""Combining marks of Latin, Greek and Cyrillic letters; those of kana change the sound and stay."""
_APOSTROPHES = re.compile("['’‘`´ʼ]")
_DRAWN_OUT = re.compile(r"([^\W\d_])\1{2,}")
_LONG_VOWEL = re.compile("[ー〜~]+|[っッ](?=\\s|$)")
_QUOTES = re.compile("^[ \\t]*[>＞|»]", re.MULTILINE)
_HESITATES = re.compile(r"[?؟]|\.\.|…")
_EMOJI_JOINERS = re.compile("[\ufe0e\ufe0f\u200d\U0001f3fb-\U0001f3ff]")

_LITTLE = 2
"""A text of at most so many Latin letters is in no language: "y" and "ok" are words of several."""
_LATIN = 0x250

_Kind: TypeAlias = Literal["approve", "deny", "continue"]
_Phrase: TypeAlias = tuple[str, ...]
_Meanings: TypeAlias = frozenset[_Kind]
_REPLIES: Mapping[_Kind, PlainReply] = {"approve": "approve", "continue": "approve", "deny": "deny"}


def plain_reply(text: str) -> PlainReply | None:
    """What a message means if it says nothing but yes or no, in any language of `replies.yaml`; None for all others.

    The whole message has to consist of phrases of one language. A message that asks or hesitates ("ok?", "ok...") or
    that says both ("ja nee") is not plain, and neither is one that quotes ("> yes"), whose words may be another's.
    """
    found: set[PlainReply] = {_REPLIES[kind] for kind in _phrase_kinds(text)}
    return next(iter(found)) if len(found) == 1 else None


def asks_to_continue(text: str) -> bool:
    """Whether a message says nothing but to go on, in any language of `replies.yaml`; where something waits, a yes."""
    return "continue" in _phrase_kinds(text) and plain_reply(text) == "approve"


def reply_language(text: str) -> str | None:
    """The code of the language of a plain reply; None when it is one of several languages, or of none."""
    words = _words(text)
    found = [code for code, phrases in _table().items() if _meanings(_tokens(words, code), phrases)]
    return found[0] if len(found) == 1 else None


def is_too_short_for_language(text: str) -> bool:
    """Whether a message is too short to be in a language of its own: yes, no, or one or two letters."""
    letters = [char for char in text if char.isalpha()]
    few = len(letters) <= _LITTLE and all(ord(char) < _LATIN for char in letters)
    return few or plain_reply(text) is not None


def _phrase_kinds(text: str) -> _Meanings:
    """The kinds of phrases that a message consists of; none if it has other words, too."""
    return frozenset() if len(text) > READ_CHARACTERS else _short_phrase_kinds(text)


@lru_cache(maxsize=16)  # a turn asks several times
def _short_phrase_kinds(text: str) -> _Meanings:
    if _QUOTES.search(text) or _HESITATES.search(normalize("NFKC", text)):
        return frozenset()
    words = _words(text)
    found: _Meanings = frozenset()
    for language, phrases in _table().items():
        found |= _meanings(_tokens(words, language), phrases)
    return found


def _meanings(tokens: Sequence[str], phrases: Mapping[_Phrase, _Meanings]) -> _Meanings:
    """What the division of a message into the fewest phrases means; nothing if it cannot be divided."""
    if not any(tuple(tokens[:end]) in phrases for end in range(1, len(tokens) + 1)):
        return frozenset()  # no phrase begins it, as with most messages
    longest = max(map(len, phrases))
    fewest: list[dict[_Meanings, int]] = [{frozenset(): 0}, *({} for _ in tokens)]
    for end in range(1, len(tokens) + 1):
        for start in range(max(0, end - longest), end):
            added = phrases.get(tuple(tokens[start:end]))
            for before, count in fewest[start].items() if added is not None else ():
                after = before | cast("_Meanings", added)
                fewest[end][after] = min(count + 1, fewest[end].get(after, count + 1))
    divisions = fewest[-1]
    best = [meanings for meanings, count in divisions.items() if count == min(divisions.values())]
    return frozenset[_Kind]().union(*best)


def _words(text: str) -> list[str]:
    """The words of a text without case, accents, punctuation and drawn-out letters; a symbol is a word of its own."""
    plain = normalize("NFKC", _EMOJI_JOINERS.sub("", text)).casefold()
    bare = "".join(char for char in normalize("NFD", _APOSTROPHES.sub("", plain)) if ord(char) not in _ACCENTS)
    spaced = "".join(_spaced(char) for char in normalize("NFC", bare))
    return _DRAWN_OUT.sub(r"\1", _LONG_VOWEL.sub("", spaced)).split()


def _spaced(char: str) -> str:
    if char.isalnum() or combining(char) or char in "ー〜~":
        return char
    return f" {char} " if category(char) == "So" else " "


def _tokens(words: Iterable[str], language: str) -> _Phrase:
    return tuple("".join(words)) if language in UNSPACED else tuple(words)


@cache
def _table() -> Mapping[str, Mapping[_Phrase, _Meanings]]:
    """The phrases by language, each with what it means: one meaning, or none if it is merely polite."""
    written: dict[str, dict[str, list[str]]] = load_shipped(
        Path(__file__).with_name("replies.yaml").read_text(encoding="utf-8")
    )
    shared = written.pop("any")
    found: dict[str, dict[_Phrase, _Meanings]] = {}
    for language, kinds in written.items():
        phrases = found.setdefault(language, {})
        for table in (shared, kinds):
            for kind, texts in table.items():
                meanings: _Meanings = frozenset() if kind == "polite" else frozenset({cast("_Kind", kind)})
                for text in texts:
                    phrases[_tokens(_words(text), language)] = meanings
    return found
