"""Turns that other processes take: queued for workers, followed by what is stored of them, and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from math import inf
from typing import TYPE_CHECKING, Final

from agent.contract.events import ProgressEvent
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.jobs.job import NewJob
from server.elsewhere.feed import StoredFeed
from server.elsewhere.queued import QueuedTurn
from server.jobs.standing import read_standing
from server.json_response import json_bytes
from server.store.turns import RUNNING, Lines, SteadyClock, StoredTurn, TurnStore
from server.streams.elsewhere import stop_elsewhere

if TYPE_CHECKING:
    from server.store.queued_turns import QueuedTurns

WAITING_SECONDS: Final = 3.0
"""How long a turn waits before its client is told that it does."""

WAITING: Final = {
    0: "Waiting for a worker: none is there that takes turns.",
    None: "Waiting for a worker.",
}
BUSY: Final = "Waiting for a worker: all that are there are busy."
"""What is said of a turn that waits, by how many workers are there for turns."""

LOST_SECONDS: Final = 3.0
"""How often turns are ended at most whose servers are gone."""


class TurnsElsewhere:
    """The turns that one server does not take itself.

    Args:
        database: where they are stored; opened when there are some.
        store: opens the stored events.
        find: finds a turn; one whose server is gone has been interrupted.
        stopping: set when the server stops, which ends all following.
        clock: the time of what is stored.
        limit: how many jobs of a user may wait.
        kept: seconds that events are kept.
    """

    def __init__(
        self,
        database: Database,
        store: Callable[[], Awaitable[TurnStore]],
        find: Callable[[str, str], Awaitable[StoredTurn | None]],
        stopping: asyncio.Event,
        clock: SteadyClock,
        limit: int,
        kept: float,
    ) -> None:
        self._store = store
        self._find = find
        self._stopping = stopping
        self._database = database
        self._clock = clock
        self._limit = limit
        self._kept = kept
        self._ended_lost = -inf
        self._feed = StoredFeed(database.url, self.queued)

    async def queued(self) -> QueuedTurns:
        """The turns that wait."""
        await self._store()
        from server.store.queued_turns import QueuedTurns

        return QueuedTurns(self._database, self._clock, self._limit, self._kept)

    async def add(self, session: str, turn: str, job: NewJob, *, resumable: bool) -> QueuedTurn | None:
        """Queue a turn; None, and nothing is stored, when its owner has one of this id.

        Args:
            session: its conversation.
            turn: its id.
            job: takes it.
            resumable: whether it goes on without its client.

        Raises:
            QueueFull: too many jobs of the owner wait.
        """
        if not await (await self.queued()).add(session, turn, job):
            return None
        owner = job.owner
        return QueuedTurn(
            turn, lambda after: self.read(owner, turn, after), lambda: self.stop(owner, turn), resumable=resumable
        )

    async def stop(self, owner: str, turn: str) -> StoredTurn | None:
        """End a turn: one that waits at once, another one by the server that takes it; None if that is late."""
        if await (await self.queued()).stop(owner, turn):
            return await self._find(owner, turn)
        return await stop_elsewhere(await self._store(), owner, turn)

    async def look(self, owner: str, turn: str) -> StoredTurn | None:
        """How a turn stands, if it is known, whoever else looks at the same time."""
        return await self._feed.look(owner, turn)

    async def stored(self, owner: str, turn: str, after: int) -> Lines:
        """The next stored events of a turn."""
        return (await self._feed.read(owner, turn, after)).lines

    async def read(self, owner: str, turn: str, after: int) -> AsyncGenerator[Lines]:
        """The events of a turn that ran here before, waits, or runs on another server, to the last."""
        loop = asyncio.get_running_loop()
        tells_at = inf if after else loop.time() + WAITING_SECONDS
        at_once = True
        with self._feed.follow(owner, turn) as following:
            while not self._stopping.is_set():
                news = await following.news(after, at_once=at_once)
                at_once = True
                if news.lines:
                    after = news.lines[-1][0]
                    yield news.lines
                if news.has_more:
                    continue
                if news.turn is None or news.turn.state != RUNNING:
                    return
                if news.is_forgotten:
                    await (await self.queued()).end_forgotten()
                elif news.waits and loop.time() >= tells_at:
                    tells_at = inf
                    yield [(after, await self._waiting())]
                else:
                    at_once = news.turn.is_lost and await self._end_lost()

    async def _waiting(self) -> bytes:
        """An event that says that a turn waits. It is not stored, so it has the number of the last one: 0."""
        try:
            there = (await read_standing(self._database)).workers["turns"]
        except StoreUnavailable:
            there = None
        event = ProgressEvent(step="waiting", attempt=1, max_attempts=1, message=WAITING.get(there, BUSY))
        return json_bytes(event)

    async def _end_lost(self) -> bool:
        """End the turns whose servers are gone, if that was not done lately; returns whether there were any."""
        now = asyncio.get_running_loop().time()
        if now - self._ended_lost < LOST_SECONDS:
            return False
        self._ended_lost = now
        try:
            return bool(await (await self._store()).end_lost())
        except StoreUnavailable:
            return False

    def aclose(self) -> None:
        """Follow nothing more."""
        self._feed.aclose()
