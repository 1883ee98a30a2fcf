"""Structured log events under stable names: the one source of the log lines and of the metrics.

Every floor logs through `log_event`; the server formats the lines and counts them. The manual lists the names and their
fields. No field ever holds a key; user content appears only where the caller had consent for it.
"""

from __future__ import annotations

import logging
from typing import Final

LOGGER: Final = "wirewright"
"""The logger of every event."""

EVENT_FIELDS: Final = "fields"
"""The attribute of a log record that holds an event's fields."""

_log = logging.getLogger(LOGGER)
_log.setLevel(logging.INFO)
_log.addHandler(logging.NullHandler())  # without a configured log nothing is written to the terminal


def log_event(name: str, level: int = logging.INFO, /, **fields: object) -> None:
    """Log one event.

    Args:
        name: the event's name, such as `assistant.request.started`.
        level: a level of `logging`.
        fields: short values that say what and where.
    """
    _log.log(level, name, extra={EVENT_FIELDS: fields})


def event_fields(record: logging.LogRecord) -> dict[str, object]:
    """The fields of an event's log record; empty for any other record."""
    fields = getattr(record, EVENT_FIELDS, None)
    return dict(fields) if isinstance(fields, dict) else {}  # pyright: ignore[reportUnknownArgumentType]  (whatever was received)
