"""The messages of a session before and after a run."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from flows.document import SHORT
from flows.json_values import is_short
from runtime.database.errors import StoreUnavailable
from runtime.redaction import Redactor
from runtime.results import RunError, RunFailed, RunResult
from runtime.sessions.memory import RunMessages, SessionMemory
from runtime.sessions.messages import Message, MessageChanges, read_changes

log = logging.getLogger(__name__)


async def recall(memory: SessionMemory) -> list[Message]:
    """The messages of a run's session, oldest first.

    Raises:
        RunFailed: they cannot be read, so the run is not started.
    """
    try:
        return await memory.load()
    except StoreUnavailable as failure:
        log.exception("runner.messages.not_loaded")
        message = f"Not run: the messages of the session cannot be read. {failure.message}"
        raise RunFailed(RunError(code="crash", message=message, fix=failure.fix)) from None


async def remember(memory: SessionMemory, messages: RunMessages, result: RunResult, redactor: Redactor) -> RunResult:
    """Keep what a run that succeeded made of its session's messages, without the run's secrets.

    Returns:
        The result; with an error if the messages could not be kept.
    """

    def read() -> MessageChanges:
        return read_changes(redactor.value(messages.reported), messages.given)

    changes = read() if is_short(messages.reported, SHORT) else await asyncio.to_thread(read)
    try:
        await memory.save(changes)
    except StoreUnavailable as failure:
        log.exception("runner.messages.not_saved")
        message = f"The flow ran, but its messages cannot be kept. {failure.message}"
        return replace(result, error=RunError(code="crash", message=message, fix=failure.fix))
    return result
