"""The words that negate and those that count, in eight languages: closed lists, unlike the words for what was done."""

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
    tables: Mapping[str, str] = _words()["negation"]
    words = [tables[language]] if language is not None and language in tables else tables.values()
    return any(re.search(one, prose, re.IGNORECASE) for one in words)


def counting_words() -> Mapping[int, str]:
    """By number: the words for it, as a regular expression."""
    return _words()["counts"]


@cache
def _words() -> Mapping[str, Any]:
    return load_shipped(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
