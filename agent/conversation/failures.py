"""Failures of the database as the assistant's own errors."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager

from agent.errors import AssistantUnavailable
from agent.turn.result import TurnError
from runtime.database.errors import StoreUnavailable

log = logging.getLogger(__name__)


@contextmanager
def store_failures() -> Generator[None]:
    """Raise `AssistantUnavailable` where the database cannot be used."""
    try:
        yield
    except StoreUnavailable as error:
        log.exception("assistant.conversation_buffer.unavailable")
        raise AssistantUnavailable(
            TurnError(code="memory_unavailable", message=error.message, fix=error.fix)
        ) from error
