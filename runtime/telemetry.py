"""What happens, told under a stable name: the one source of the log's events and of the metrics.

Every floor tells what it does through `happened`; the server writes the lines and counts them. Names and fields are
listed in the manual; no field ever holds a key, and content only where its teller had the consent for it.
"""

from __future__ import annotations

import logging
from typing import Final

LOGGER: Final = "wirewright"
"""The logger of every happening."""

FIELDS: Final = "fields"
"""The attribute of a log record that holds the fields."""

_log = logging.getLogger(LOGGER)
_log.setLevel(logging.INFO)
_log.addHandler(logging.NullHandler())  # without a configured log nothing is written to the terminal


def happened(name: str, level: int = logging.INFO, /, **fields: object) -> None:
    """Tell that something happened.

    Args:
        name: the event's name, such as `assistant.request.started`.
        level: a level of `logging`.
        fields: short values that say what and where.
    """
    _log.log(level, name, extra={FIELDS: fields})


def fields_of(record: logging.LogRecord) -> dict[str, object]:
    """The fields of a happening; none for other records."""
    fields = getattr(record, FIELDS, None)
    return dict(fields) if isinstance(fields, dict) else {}  # pyright: ignore[reportUnknownArgumentType]  (whatever was received)
