"""A turn that waits for a worker or runs there, as the server sees it that was asked for it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Final

from pydantic import TypeAdapter

from agent.contract.endings import cancelled
from agent.contract.events import Ending
from flows.json_values import as_object
from server.store.turns import Lines
from server.streams.event_log import Reader
from server.streams.event_writer import UNAVAILABLE

GOES_ON: Final = "A worker goes on with this turn; its events can be followed by its id."

ENDINGS: Final = ("complete", "error", "cancelled")
"""The kinds of a turn's last event."""

_ENDING: Final[TypeAdapter[Ending]] = TypeAdapter(Ending)

log = logging.getLogger(__name__)


class QueuedTurn:
    """A turn for which a worker is asked.

    Args:
        turn: its id.
        read: its events from a number on, as they are stored, to the last.
        stop: ends it, wherever it is.
        resumable: whether it goes on without its client.
    """

    def __init__(
        self,
        turn: str,
        read: Callable[[int], AsyncGenerator[Lines]],
        stop: Callable[[], Coroutine[Any, Any, object]],
        *,
        resumable: bool,
    ) -> None:
        self.id = turn
        self._read = read
        self._stop = stop
        self._resumable = resumable
        self._client: Reader | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._ending: Ending | None = None

    def join(self, after: int = 0, *, as_client: bool = False) -> Reader:
        """Follow the turn.

        Args:
            after: the number of the last event that is known.
            as_client: whether the turn ends with this reader unless it is resumable.
        """
        reader = Reader(after)
        if as_client:
            self._client = reader
        return reader

    def leave(self, reader: Reader) -> None:
        """Follow it no longer."""
        if reader is self._client and not self._resumable and self._ending is None:
            self.stop()

    def stop(self) -> None:
        """End it, unless it has ended."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stopped(), name="turn-stopping")

    async def read(self, reader: Reader) -> AsyncGenerator[Lines]:
        """The events of the turn, as they are stored."""
        last = b""
        async with aclosing(self._read(reader.at)) as events:
            async for lines in events:
                reader.at, last = lines[-1]
                yield lines
        if as_object(json.loads(last or b"{}")).get("event") in ENDINGS:
            self._ending = _ENDING.validate_json(last)

    async def ended(self) -> Ending:
        """The last event, when it has come."""
        async for _ in self.read(Reader(0)):
            pass
        return self._ending or cancelled(message=GOES_ON, reason="interrupted")

    async def _stopped(self) -> None:
        try:
            await self._stop()
        except UNAVAILABLE:
            log.exception("turns.queued.not_stopped")
