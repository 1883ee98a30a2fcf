"""From a declaration to inputs: the same seed gives the same ones, on every machine."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from string import ascii_lowercase, ascii_uppercase, digits
from typing import assert_never

from evals.behaviours.families import (
    ENOUGH,
    Conversations,
    Family,
    Files,
    Given,
    Input,
    Inputs,
    LengthsAround,
    Lists,
    Matches,
    NumbersAround,
    Texts,
)
from evals.behaviours.phrases import CAPITALS, LANGUAGES, NUMBERS_IN_TEXT, PUNCTUATION, SENTENCES, WORDS

FRACTIONS = (0.4, 0.1, 0.01)
"""How far from a border further numbers lie, on both sides."""
LONG = 12
"""How many sentences a long text has."""
TRIES = 60
"""How many variants of a matching text are tried."""


class BadInputs(ValueError):
    """A declaration from which too few inputs come; the message says what to add."""


def expand(declared: Inputs, families: Iterable[Family], name: str) -> tuple[Input, ...]:
    """The inputs of a scenario.

    Args:
        families: those that are declared, and those that were derived.
        name: the scenario's id; with the declared seed it decides every choice.

    Returns:
        Different inputs, in a fixed order.

    Raises:
        BadInputs: there are fewer than eight.
    """
    found: dict[str, Input] = {}
    for number, family in enumerate(families):
        rng = random.Random(f"{name} {declared.seed} {number} {family.kind}")  # noqa: S311  (no secret)
        for made in _inputs(family, rng):
            if made.trait not in declared.without:
                found.setdefault(made.model_dump_json(exclude={"trait"}), made)
    if len(found) < ENOUGH:
        raise BadInputs(
            f"{name}: its inputs give {len(found)}, and at least {ENOUGH} are needed; declare another family "
            "(families), have them derived (derive: true), or leave out fewer traits (without)."
        )
    return tuple(found.values())


def _inputs(family: Family, rng: random.Random) -> Iterator[Input]:
    match family:
        case Texts():
            yield from _texts(rng)
        case Given():
            yield from (Input(trait="given", text=text) for text in family.texts)
        case NumbersAround():
            yield from _numbers(family.border, rng)
        case LengthsAround():
            yield from _lengths(family.length, rng)
        case Matches():
            yield from _matches(family, rng)
        case Lists():
            yield from _lists(family, rng)
        case Files():
            contents = family.contents or tuple(made.text for made in _texts(rng))
            yield from (Input(trait="file", text=family.text, files={family.path: each}) for each in contents)
        case Conversations():
            for *earlier, last in family.messages:
                yield Input(trait="earlier messages", text=last, earlier=tuple(earlier))
        case _:
            assert_never(family)


def _texts(rng: random.Random) -> Iterator[Input]:
    one, two, three = rng.sample(WORDS, 3)
    first, second = rng.sample(SENTENCES, 2)
    yield Input(trait="word", text=one)
    yield Input(trait="sentence", text=first)
    yield Input(trait="capitals", text=rng.choice(CAPITALS))
    yield Input(trait="digits", text=rng.choice(NUMBERS_IN_TEXT))
    yield Input(trait="punctuation", text=rng.choice(PUNCTUATION))
    yield Input(trait="braces", text=f"{{{two}}} and {{{{{three}}}}}")
    yield Input(trait="language", text=rng.choice(LANGUAGES))
    yield Input(trait="lines", text=f"{second}\n{one} {two}\n\n{three}")
    yield Input(trait="long", text=" ".join(rng.choice(SENTENCES) for _ in range(LONG)))
    yield Input(trait="spaces", text=f"  {two}   {three} ")
    yield Input(trait="empty", text="")


def _numbers(border: float, rng: random.Random) -> Iterator[Input]:
    step = 1 if border == int(border) else 0.1
    near = (border - step, border + step, border - step / 2, border + step / 2)
    yield Input(trait="at the border", text=_number(border))
    for value in (*near, border * 10 + 7, -abs(border) - rng.randint(1, 9), 0, rng.randint(1, 9) * 1000):
        yield Input(trait="number", text=_number(value))
    yield Input(trait="no number", text=rng.choice(WORDS))
    for part in FRACTIONS:
        yield Input(trait="number", text=_number(border + part))
        yield Input(trait="number", text=_number(border - part))


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.12g}"


def _lengths(length: int, rng: random.Random) -> Iterator[Input]:
    text = " ".join(rng.choice(SENTENCES) for _ in range(length // 20 + 3))
    for size in (length - 1, length, length + 1, length * 2, max(1, length // 2)):
        yield Input(trait="length", text=f"{text[: size - 1]}x")


def _matches(family: Matches, rng: random.Random) -> Iterator[Input]:
    matching = [*family.examples, *(_variants(family.pattern, family.examples, rng) if family.pattern else ())]
    one, two, three = rng.sample(WORDS, 3)
    yield Input(trait="match", text=family.examples[0])
    for missing in _near_misses(family.examples[0], family):
        yield Input(trait="near miss", text=missing)
        yield Input(trait="near miss", text=f"{one} {missing} {two}")
    start, middle, end = (rng.choice(matching) for _ in range(3))
    yield Input(trait="match", text=f"{start} {one} {two}")
    yield Input(trait="match", text=f"{one} {middle} {two}")
    yield Input(trait="match", text=f"{two} {three} {end}")
    chosen = matching if len(matching) > 1 else [matching[0], matching[0]]
    yield Input(trait="several matches", text=f"{one} {chosen[0]} {two} {chosen[1]}")
    yield Input(trait="several matches", text=f"{chosen[-1]} {chosen[0]} {three} {chosen[1]} {two}")
    yield Input(trait="no match", text=f"{one} {three} {two}")
    if family.exact:
        for change in (str.upper, str.lower, str.title):
            yield Input(trait="other case", text=f"{one} {change(family.examples[0])} {two}")
        yield Input(trait="inside a word", text=f"{one} x{family.examples[0]}y {two}")
    if family.pattern is not None:
        for alphabet in (digits, ascii_lowercase, ascii_uppercase):
            if every := _every(family.pattern, family.examples, alphabet):
                yield Input(trait="every character", text=" ".join(every))


def _every(pattern: str, examples: Iterable[str], alphabet: str) -> list[str]:
    """A match for each character of an alphabet that may stand somewhere in an example; none if only few may."""
    compiled = re.compile(pattern)
    found: dict[str, str] = {}
    for example in examples:
        for at, character in enumerate(example):
            for other in alphabet if character in alphabet else "":
                text = f"{example[:at]}{other}{example[at + 1 :]}"
                if other not in found and compiled.fullmatch(text):
                    found[other] = text
    return [found[character] for character in alphabet if character in found] if len(found) > 2 else []


def _near_misses(example: str, family: Matches) -> list[str]:
    """Texts that differ from an example by one character and do not match."""
    tried = (example[:-1], example[1:], f"{example[:-1]}{'0' if example[-1] != '0' else 'o'}")
    pattern = re.compile(re.escape(example) if family.pattern is None else family.pattern, re.IGNORECASE)
    return [text for text in tried if text.strip() and pattern.search(text) is None][:2]


def _variants(pattern: str, examples: Iterable[str], rng: random.Random) -> list[str]:
    """Texts like the examples, other digits and letters in the same places, that match from end to end."""
    compiled = re.compile(pattern)
    found: list[str] = []
    for example in examples:
        for _ in range(TRIES):
            text = "".join(_alike(character, rng) for character in example)
            if text != example and text not in found and compiled.fullmatch(text):
                found.append(text)
                break
    return found


def _alike(character: str, rng: random.Random) -> str:
    if rng.random() < 1 / 3:
        return character
    for kind in ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
        if character in kind:
            return rng.choice(kind)
    return character


def _lists(family: Lists, rng: random.Random) -> Iterator[Input]:
    items = list(family.items if len(family.items) > 2 else (*family.items, *rng.sample(WORDS, 4)))
    rng.shuffle(items)
    between = family.separator
    for count in (1, 2, 3, len(items)):
        yield Input(trait="items", text=between.join(items[:count]))
    yield Input(trait="items", text=between.join(reversed(items)))
    yield Input(trait="items", text=between.join([items[0], items[0], items[1]]))
    yield Input(trait="items", text=between.join(f"{item} {other}" for item, other in pairwise(items)))
    yield Input(trait="odd items", text=f"{between.join(items[:2])}{between}")
    yield Input(trait="odd items", text=f"{items[0]}{between}{between}{items[1]}")
    other = ";" if between != ";" else ","
    yield Input(trait="odd items", text=other.join(items[:3]))
