"""Structured log events with stable names: the source of the log lines and of the metrics.

All code logs through `log_event`; the server formats and counts the events. The manual lists their names and fields.
No field holds a key; a field with user content needs the user's consent.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from flows.fields.keys import without_keys

LOGGER: Final = "wirewright"
"""The logger of every event."""

EVENT_FIELDS: Final = "fields"
"""The attribute of a log record that holds an event's fields."""

SHORT: Final = 64
"""Characters of a value that may be an id."""

_context: ContextVar[Mapping[str, str]] = ContextVar("log_fields", default=MappingProxyType({}))
_log = logging.getLogger(LOGGER)
_log.setLevel(logging.INFO)
_log.addHandler(logging.NullHandler())  # without a configured log nothing is written to the terminal


def log_event(name: str, level: int = logging.INFO, /, **fields: object) -> None:
    """Log one event.

    Args:
        name: the event's name, such as `assistant.request.started`.
        level: a level of `logging`.
        fields: short values with the details; keys in texts, which a client may send as an id, are masked.
    """
    if not (_log.isEnabledFor(level) and _is_heard()):
        return
    safe = {field: _masked(value) if isinstance(value, str) else value for field, value in fields.items()}
    _log.handle(_log.makeRecord(LOGGER, level, __name__, 0, name, (), None, extra={EVENT_FIELDS: safe}))


def _is_heard() -> bool:
    """Whether anything handles the events; nothing does in a program that embeds the assistant without a log."""
    logger: logging.Logger | None = _log
    while logger is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in logger.handlers):
            return True
        logger = logger.parent if logger.propagate else None
    return False


def _masked(value: str) -> str:
    """A value without the keys in it; an id comes in many lines, and is looked through once."""
    return _masked_once(value) if len(value) <= SHORT else without_keys(value)


@lru_cache(maxsize=256)
def _masked_once(value: str) -> str:
    return without_keys(value)


def event_fields(record: logging.LogRecord) -> dict[str, object]:
    """The fields of an event's log record; empty for any other record."""
    fields = getattr(record, EVENT_FIELDS, None)
    return dict(fields) if isinstance(fields, dict) else {}  # pyright: ignore[reportUnknownArgumentType]  (whatever was received)


def bind_fields(**fields: str) -> None:
    """Add fields to every log line of the current task, and of the tasks and threads that it starts from now on.

    Args:
        **fields: such as `request_id`; later ones replace earlier ones of their name.
    """
    _context.set({**_context.get(), **fields})


@contextmanager
def bound_fields(**fields: str) -> Generator[None]:
    """Add fields to every log line of a block, and of the tasks and threads that it starts."""
    before = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(before)


def context_fields() -> Mapping[str, str]:
    """The fields that log lines of the current task have."""
    return _context.get()
