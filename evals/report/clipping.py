"""Texts as a report shows them: secrets redacted, control characters made visible, long ones cut with a notice."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass

from flows.fields.secrets import redact
from flows.json_values import Json

_KEPT = frozenset("\n\t\u200d\u200c")
_SCANNED = 200_000


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much of a play is shown.

    Attributes:
        text: the most characters of one text.
        items: the most entries of one list, such as tool calls of a turn or steps of a canvas.
        passes: of how many tries of a scenario by a player that pass the details are shown.
        failures: of how many that do not.
    """

    text: int = 3_000
    items: int = 60
    passes: int = 1_000
    failures: int = 1_000


SIZES = (
    Limits(),
    Limits(text=1_000, items=40),
    Limits(text=400, items=24, passes=1),
    Limits(text=200, items=12, passes=0, failures=1),
    Limits(text=200, items=12, passes=0, failures=0),
)
"""From much to little; a page takes the first with which it is small enough."""


@dataclass(frozen=True)
class Clip:
    """The beginning of a text.

    Attributes:
        left: how many characters are not.
    """

    text: str
    left: int = 0

    def __str__(self) -> str:
        return f"{self.text}… ({self.left:,} more characters)" if self.left else self.text


def clip(text: str, limit: int) -> Clip:
    """A text as it may be shown.

    Args:
        text: any text, such as a model's output.
    """
    hidden = max(0, len(text) - _SCANNED)
    whole = visible(str(redact(text[:_SCANNED])))
    return Clip(whole, hidden) if len(whole) <= limit else Clip(whole[:limit], len(whole) - limit + hidden)


def clip_json(value: Json, limit: int) -> Clip:
    """A JSON value as indented text, as it may be shown; a text stays as it is."""
    shown = redact(value)
    return clip(
        shown if isinstance(shown, str) else json.dumps(shown, indent=2, ensure_ascii=False, default=str), limit
    )


def line(text: str, limit: int) -> str:
    """A text on one line, cut with an ellipsis."""
    flat = " ".join(visible(str(redact(text[:_SCANNED]))).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def visible(text: str) -> str:
    """A text in which no character is hidden: controls, overrides of direction and lone surrogates are written out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _shows(char) else f"\\u{ord(char):04x}" for char in text.replace("\r\n", "\n"))


def _shows(char: str) -> bool:
    return char in _KEPT or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
