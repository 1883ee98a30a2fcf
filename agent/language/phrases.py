"""The phrases that are written ahead, in the languages of `phrases.yaml`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from agent.language.shipped_yaml import load_shipped


def phrase(key: str, language: str, *values: object, **named: object) -> str:
    """A phrase of `phrases.yaml`.

    Args:
        key: its name.
        language: its language; English when it has no such translation.
        *values: what fills its placeholders.
        **named: what fills those that have names.
    """
    translations = _phrases()[key]
    return translations.get(language, translations["en"]).format(*values, **named)


def languages(key: str) -> frozenset[str]:
    """The codes of the languages that a phrase is in."""
    return frozenset(_phrases()[key])


@cache
def _phrases() -> Mapping[str, Mapping[str, str]]:
    return load_shipped(Path(__file__).with_name("phrases.yaml").read_text(encoding="utf-8"))
