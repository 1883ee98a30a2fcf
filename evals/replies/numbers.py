"""The numbers of a reply that count a thing, in digits and in words of eight languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from evals.replies.clauses import is_denied

_WORDS: Final = {
    0: "zero null zéro cero",
    1: "one eins ein eine einen un une uno una um uma",
    2: "two zwei deux dos dois duas due",
    3: "three drei trois tres três tre",
    4: "four vier quatre cuatro quatro quattro",
    5: "five fünf cinq cinco cinque",
    6: "six sechs six seis sei",
    7: "seven sieben sept siete sete sette",
    8: "eight acht huit ocho oito otto",
    9: "nine neun neuf nueve nove",
    10: "ten zehn dix diez dez dieci",
    11: "eleven elf onze once undici",
    12: "twelve zwölf douze doce doze dodici",
    18: "eighteen achtzehn dix-huit dieciocho dezoito diciotto",
    20: "twenty zwanzig vingt veinte vinte venti",
}
_VALUES: Final = {word: value for value, words in _WORDS.items() for word in words.split()}
_ARTICLES: Final = frozenset({"ein", "eine", "einen", "un", "une", "uno", "una", "um", "uma", "once"})
"""Words that count only before the thing that is counted: they have another meaning, in this language or in another."""
_DIGITS: Final = {"〇": 0, "零": 0, **{sign: at for at, sign in enumerate("一二三四五六七八九", start=1)}, "两": 2}
_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_SIGNS: Final = "".join([*_DIGITS, *_UNITS])
"""The signs of Chinese and Japanese numbers, which also occur in words: they count only before what is counted."""
_UNSPACED: Final = r"\u3005\u3040-\u30ff\u3400-\u9fff"
FIGURES: Final = rf"(?<!\d)\d[\d.,]*|[{_SIGNS}]+"
"""Matches a number in digits, or in Chinese and Japanese signs."""
NUMBER: Final = rf"{FIGURES}|(?<!\w)[^\W\d_]+"
"""Matches a number in digits or signs, and any word."""
_BETWEEN: Final = 2
"""How many words may stand between a number and what it counts, such as `two different templates`."""
_TOKEN: Final = re.compile(
    rf"\d+(?:[.,]\d+)*|[{_SIGNS}]+|(?:(?![{_SIGNS}])[{_UNSPACED}])+|(?:(?![{_UNSPACED}])[^\W\d_])+(?:-[^\W\d_]+)*|[^\w\s]|\n"
)
_JOINS: Final = frozenset(
    {"or", "and", "to", "oder", "und", "bis", "ou", "et", "o", "y", "e", "a", ",", "/", "-", "–"}
    | {"、", "，", "和", "或", "或者", "到", "か", "と", "または", "から"}
)
_LIST_MARKER: Final = re.compile(r"(?m)^\s*\d{1,2}[.)]\s+")
_QUOTED: Final = re.compile(
    r"「(?!\d+」)[^」\n]*」|“(?!\d+”)[^”\n]*”|`(?!\d+`)[^`\n]*`|\"(?!\d+\")[^\"\n]*\"|(?<!\w)'(?!\d+')[^'\n]*'(?!\w)|«[^»\n]*»|„[^“\n]*“"
)


def counted(text: str, things: Sequence[str]) -> list[tuple[float, bool]]:
    """The numbers that count a thing, and those that stand alone; each with whether it is denied.

    A number before another thing (`one input`), in quotes, or that marks a line of a list, does not count.

    Args:
        things: what may be counted, such as `prompt templates`; without any, only numbers alone count.
    """
    bare = _QUOTED.sub("…", _LIST_MARKER.sub("", text))
    found = list(_TOKEN.finditer(bare))
    words = [each.group().casefold() for each in found]
    units = [thing.casefold().split() for thing in things]
    return [
        (value, is_denied(bare, found[at].start(), found[at].end()))
        for at, word in enumerate(words)
        if (value := _value(word)) is not None and _counts(words, at, units)
    ]


def spelled_number(word: str) -> float | None:
    """The value of a number in digits or, up to twenty, in words (in signs to the thousands); None if it is none."""
    return _value(word.casefold()) if word else None


def _value(word: str) -> float | None:
    if word in _VALUES:
        return float(_VALUES[word])
    if all(sign in _SIGNS for sign in word):
        return _of_signs(word)
    if not word[0].isdecimal():
        return None
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", word):
        return float(re.sub(r"[.,]", "", word))
    whole, *decimals = re.split(r"[.,]", word)
    return float(f"{whole}.{decimals[0]}" if decimals and decimals[0] else whole)


def _of_signs(signs: str) -> float:
    """The value of a Chinese or Japanese number, up to the thousands: `十二`, `两百`; `二五` is 25."""
    whole, digit = 0, None
    for sign in signs:
        if sign in _UNITS:
            whole += (1 if digit is None else digit) * _UNITS[sign]
            digit = None
        else:
            digit = _DIGITS[sign] if digit is None else digit * 10 + _DIGITS[sign]
    return float(whole + (digit or 0))


def _counts(words: Sequence[str], at: int, units: Sequence[Sequence[str]]) -> bool:
    following = words[at + 1 :]
    if any(
        _begins(following[skip:], unit) for skip in range(_BETWEEN + 1) for unit in units if _plain(following[:skip])
    ):
        return True
    if words[at] in _ARTICLES or words[at][0] in _SIGNS:
        return False
    joined = list(_after_joins(following))
    if joined and _value(joined[0]) is not None:
        return True  # `1, 2 or 3 templates`
    return not following or not following[0].isalnum() or following[0] == "…"


def _plain(words: Sequence[str]) -> bool:
    return all(word.isalpha() and _value(word) is None for word in words)


def _begins(words: Sequence[str], unit: Sequence[str]) -> bool:
    return len(words) >= len(unit) and all(word.startswith(each) for word, each in zip(words, unit, strict=False))


def _after_joins(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    first = next(rest, None)
    if first in _JOINS:
        yield from rest
