"""The words by which replies are read, by kind and language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import yaml

READ: Final = ("en", "de", "fr", "es", "pt", "it", "ja", "zh")
"""The codes of the languages that replies are read in."""
UNSPACED: Final = frozenset({"ja", "zh"})
"""Those of them that do not separate words."""

_FILE: Final = Path(__file__).with_name("words.yaml")


def words(kind: str) -> str:
    """A pattern for all that `words.yaml` has of a kind, in any language: whole words where words are separated.

    Args:
        kind: a kind of the file, such as `declines`.
    """
    return any_of(_table()[kind])


def any_of(patterns: Mapping[str, Iterable[str]]) -> str:
    """A pattern for any of the patterns of languages, by code."""
    spaced = [each for code, found in patterns.items() if code not in UNSPACED for each in found]
    unspaced = [each for code, found in patterns.items() if code in UNSPACED for each in found]
    whole = [rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)"] if spaced else []
    return "(?:" + "|".join([*whole, *unspaced]) + ")"


def compiled(kind: str) -> re.Pattern[str]:
    """`words(kind)`, whatever the case of letters."""
    return re.compile(words(kind), re.IGNORECASE)


@cache
def _table() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The patterns by kind and language.

    Raises:
        ValueError: a kind lacks a language, so that nothing would be read in it.
    """
    read: dict[str, dict[str, list[str]]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    for kind, languages in read.items():
        if tuple(languages) != READ:
            raise ValueError(f"{_FILE.name}: {kind} has {', '.join(languages)}; give {', '.join(READ)}, in this order")
    return {kind: {code: tuple(found) for code, found in each.items()} for kind, each in read.items()}
