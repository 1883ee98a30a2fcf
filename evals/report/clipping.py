"""Preparing texts for a report: secrets redacted, control characters made visible, long texts cut with a notice."""

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
        passes: how many passing tries of a scenario by a player are shown in detail.
        failures: how many failing ones are.
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
"""From most to least; a page uses the first with which it is small enough."""


@dataclass(frozen=True)
class Clip:
    """The beginning of a text.

    Attributes:
        left: how many characters are cut off.
    """

    text: str
    left: int = 0

    def __str__(self) -> str:
        return f"{self.text}… ({self.left:,} more characters)" if self.left else self.text


def clip(text: str, limit: int) -> Clip:
    """The beginning of any text, such as a model's output, redacted and with control characters visible."""
    hidden = max(0, len(text) - _SCANNED)
    whole = visible(str(redact(text[:_SCANNED])))
    return Clip(whole, hidden) if len(whole) <= limit else Clip(whole[:limit], len(whole) - limit + hidden)


def clip_json(value: Json, limit: int) -> Clip:
    """A JSON value as indented text, redacted and cut like any text; a text stays as it is."""
    shown = redact(value)
    return clip(
        shown if isinstance(shown, str) else json.dumps(shown, indent=2, ensure_ascii=False, default=str), limit
    )


def line(text: str, limit: int) -> str:
    """A text on one line, cut with an ellipsis."""
    flat = " ".join(visible(str(redact(text[:_SCANNED]))).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def visible(text: str) -> str:
    """A text without invisible characters: controls, directional overrides and lone surrogates are escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _shows(char) else f"\\u{ord(char):04x}" for char in text.replace("\r\n", "\n"))


def _shows(char: str) -> bool:
    return char in _KEPT or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
