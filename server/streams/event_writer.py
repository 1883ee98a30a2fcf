"""Stores the events of turns, a few times a second all that came meanwhile, beside the turns and not before them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from math import inf
from time import monotonic
from typing import Final

import anyio

from runtime.database.errors import StoreUnavailable
from runtime.keychain.master_key import SecretKeyUnavailable
from server.store.turns import TurnStore
from server.streams.event_log import EventLog

PAUSE_SECONDS: Final = 0.02
"""How long events wait for others to be stored together with them: those of turns that can be resumed."""

FOLLOWED_SECONDS: Final = 0.01
"""The same for durable turns, which other servers follow by what is stored."""

LONG_PAUSE_SECONDS: Final = 0.5
"""The same for turns that end with their client."""

RETRY_SECONDS: Final = 1.0
"""How long to wait after a failure."""

ATTEMPTS: Final = 30
"""How often the last events of a turn are tried that is not durable."""

CLOSE_SECONDS: Final = 10.0
"""For how long what is left is tried again when the server stops."""

PRUNE_SECONDS: Final = 60.0
"""How often old events are deleted, while there are new ones."""

UNAVAILABLE: Final = (StoreUnavailable, SecretKeyUnavailable)
"""Failures of a store that may pass."""

log = logging.getLogger(__name__)


class EventWriter:
    """Stores what turns write: one transaction for everything that came within a pause.

    Args:
        store: opens the store.
        ended: called when the last event of a turn is stored, or cannot be.
    """

    def __init__(self, store: Callable[[], Awaitable[TurnStore]], ended: Callable[[EventLog], Awaitable[None]]) -> None:
        self._store = store
        self._ended = ended
        self._waiting: dict[EventLog, int] = {}
        self._task: asyncio.Task[None] | None = None
        self._pruned = monotonic()
        self._due, self._retry = inf, 0.0
        self._sooner = asyncio.Event()
        self._is_closing = False
        self._closed_at = inf

    def wake(self, turn: EventLog) -> None:
        """Store what a turn has written, soon."""
        self._waiting.setdefault(turn, 0)
        urgent = PAUSE_SECONDS if turn.attempt is None else FOLLOWED_SECONDS
        due = max(self._retry, monotonic() + (urgent if turn.is_urgent else LONG_PAUSE_SECONDS))
        if due < self._due:
            self._due = due
            self._sooner.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write(), name="event-writer")

    async def aclose(self) -> None:
        """Store what is left: at once, and again for a while if the store fails. What is lost then is logged."""
        self._is_closing = True
        self._closed_at = monotonic() + CLOSE_SECONDS
        self._sooner.set()
        if self._task is not None:
            await self._task

    async def _write(self) -> None:
        while self._waiting:
            await self._until_due()
            turns, self._waiting, self._due = self._waiting, {}, inf
            alone = any(turns.values())  # after a failure, one that fails again must not hold the others up
            groups = [{turn: attempts} for turn, attempts in turns.items()] if alone else [turns]
            if not all([await self._stored(group) for group in groups]):
                self._due = self._retry = monotonic() + RETRY_SECONDS

    async def _stored(self, turns: dict[EventLog, int]) -> bool:
        """Store what some turns have written; returns whether that worked."""
        added = {turn: events for turn in turns if (events := turn.unstored()) is not None}
        try:
            store = await self._store()
            refused = await store.append(list(added.values()), again=any(turns.values()))
        except Exception as failure:  # noqa: BLE001  (whatever is wrong with one turn must not end the storing of others)
            await self._failed(turns, failure)
            return False
        for turn, events in added.items():
            if events in refused:
                turn.leave()
            else:
                turn.has_stored(events)
        for turn in turns:
            if turn.is_left or (turn.has_ended and turn.stored == turn.last):
                await self._ended(turn)
        await self._prune(store)
        return True

    async def _failed(self, turns: dict[EventLog, int], failure: Exception) -> None:
        """Try again later; a turn that has ended is given up in the end, unless nobody else would end it.

        When the server has tried for long enough to stop, what is left is given up; with a durable turn another process
        goes on.
        """
        if not all(turns.values()):
            log.error("turns.events.not_stored", exc_info=failure)
        is_over = monotonic() + RETRY_SECONDS > self._closed_at
        for turn, attempts in turns.items():
            turn.cannot_store()
            is_tried = turn.has_ended and attempts + 1 >= ATTEMPTS and turn.attempt is None
            if is_over or is_tried:
                await self._given_up(turn)
            else:
                self._waiting[turn] = attempts + 1 if turn.has_ended else 1

    async def _given_up(self, turn: EventLog) -> None:
        """Store nothing more of a turn; of one that is not durable, what was not stored is lost."""
        lost = turn.unstored()
        if turn.attempt is not None:
            turn.leave()
        elif lost is not None:
            log.error("turns.events.lost turn=%s first=%d last=%d", turn.turn, lost.first, lost.last)
        await self._ended(turn)

    async def _prune(self, store: TurnStore) -> None:
        if monotonic() - self._pruned < PRUNE_SECONDS:
            return
        self._pruned = monotonic()
        try:
            await store.prune()
        except UNAVAILABLE:
            log.exception("turns.events.not_pruned")

    async def _until_due(self) -> None:
        """Wait for more to be stored together; while the server stops, only after a failure."""
        while (left := (self._retry if self._is_closing else self._due) - monotonic()) > 0:
            self._sooner.clear()
            with anyio.move_on_after(left):
                await self._sooner.wait()
