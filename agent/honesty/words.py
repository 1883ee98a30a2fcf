"""The words that negate, those that count and those for being on the canvas, in eight languages: closed lists, unlike
the words for what was done.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agent.language.shipped_yaml import load_shipped


def negates(prose: str, language: str | None) -> bool:
    """Whether a text has a word that negates.

    Args:
        prose: the text.
        language: its language; None reads it in every one.
    """
    return _has("negation", prose, language)


def claims_placement(prose: str, language: str | None) -> bool:
    """Whether a sentence says that something is on the canvas now, and does not only promise it.

    Args:
        prose: the sentence.
        language: its language; None reads it in every one.
    """
    return _has("placed", prose, language) and not _has("promised", prose, language)


def counting_words() -> Mapping[int, str]:
    """By number: the words for it, as a regular expression."""
    return _words()["counts"]


def _has(table: str, prose: str, language: str | None) -> bool:
    tables: Mapping[str, str] = _words()[table]
    words = [tables[language]] if language is not None and language in tables else tables.values()
    return any(re.search(one, prose, re.IGNORECASE) for one in words)


@cache
def _words() -> Mapping[str, Any]:
    return load_shipped(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
