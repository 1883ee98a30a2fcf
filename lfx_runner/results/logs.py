"""Limits what components log: nobody reads it beyond the first lines, and a flood of it takes the engine seconds."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, TextIO

from lfx.custom.custom_component.component import Component
from lfx.log.logger import logger

MAX_LINES = 1_000
"""How many lines the components of one run may log; what follows is dropped and counted."""
MAX_TEXT = 10_000
"""Characters of the longest text that is logged; the rest is cut off."""
LEVELS = ("debug", "info", "warning", "warn", "error", "exception", "critical", "log")

_lines = 0
_streams: dict[str, TextIO] = {}


def restart() -> None:
    """Begin to count for a run."""
    global _lines
    _lines = 0


def dropped_lines() -> int:
    """How many lines were dropped since the count began."""
    return max(0, _lines - MAX_LINES)


def silence() -> None:
    """Make what is logged, warned of and printed cost little, in this process and those that it forks."""
    warnings.simplefilter("ignore")
    for level in LEVELS:  # its own level drops them too, but each call would first make a logger
        setattr(logger, level, _ignore)
        setattr(logger, f"a{level}", _ignore_later)
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        # Buffered, unlike the streams that the process began with; used after `discard_output` alone.
        _streams[name] = os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", closefd=False)


def discard_output() -> None:
    """Print to streams that cost little; `silence` was called before the fork, and the streams lead nowhere by now."""
    for name, stream in _streams.items():
        setattr(sys, name, stream)


_log = Component.log


def _log_within_limits(self: Component, message: Any, name: str | None = None) -> None:
    global _lines
    _lines += 1
    if _lines <= MAX_LINES:
        _log(self, message[:MAX_TEXT] if isinstance(message, str) else message, name)


Component.log = _log_within_limits


def _ignore(*_: object, **__: object) -> None:
    pass


async def _ignore_later(*_: object, **__: object) -> None:
    pass
