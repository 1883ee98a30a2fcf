"""Turns that other processes take: queued for workers, followed by what is stored of them, and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.jobs.job import NewJob
from server.elsewhere.feed import StoredFeed
from server.elsewhere.queued import QueuedTurn
from server.store.turns import RUNNING, Lines, SteadyClock, StoredTurn, TurnStore
from server.streams.elsewhere import stop_elsewhere

if TYPE_CHECKING:
    from server.store.queued_turns import QueuedTurns

PATIENCE_SECONDS: Final = 30.0
"""How long a follower waits for a database that does not answer."""

LOST_SECONDS: Final = 3.0
"""How often it is looked whether the server of a turn is gone of which nothing is heard."""


class TurnsElsewhere:
    """The turns that one server does not take itself.

    Args:
        database: where they are stored; opened when there are some.
        store: opens the stored events.
        find: finds a turn; one whose server is gone has been interrupted.
        stopping: set when the server stops, which ends all following.
        clock: the time of what is stored.
        limit: how many jobs of a user may wait.
    """

    def __init__(
        self,
        database: Database,
        store: Callable[[], Awaitable[TurnStore]],
        find: Callable[[str, str], Awaitable[StoredTurn | None]],
        stopping: asyncio.Event,
        clock: SteadyClock,
        limit: int,
    ) -> None:
        self._store = store
        self._find = find
        self._stopping = stopping
        self._database = database
        self._clock = clock
        self._limit = limit
        self._feed = StoredFeed(database.url, self.queued)

    async def queued(self) -> QueuedTurns:
        """The turns that wait."""
        await self._store()
        from server.store.queued_turns import QueuedTurns

        return QueuedTurns(self._database, self._clock, self._limit)

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

    async def read(self, owner: str, turn: str, after: int) -> AsyncGenerator[Lines]:
        """The events of a turn that ran here before, waits, or runs on another server, to the last."""
        store = await self._store()
        with self._feed.follow(owner, turn) as following:
            while lines := await store.read(owner, turn, after):
                after = lines[-1][0]
                yield lines
            loop = asyncio.get_running_loop()
            looked, failed = loop.time(), None
            while not self._stopping.is_set():
                following.begin()
                try:
                    news = await self._feed.read(owner, turn, after)
                except StoreUnavailable:
                    failed = failed or loop.time()
                    if loop.time() - failed > PATIENCE_SECONDS:
                        raise
                    await following.wait()  # such as while the database is started again
                    continue
                failed = None
                if news.lines:
                    after = news.lines[-1][0]
                    yield news.lines
                if news.turn is None or news.turn.state != RUNNING:
                    return
                if news.is_forgotten:
                    await (await self.queued()).end_forgotten()
                elif await following.wait():
                    looked = loop.time()
                elif loop.time() - looked > LOST_SECONDS:
                    looked = loop.time()
                    with suppress(StoreUnavailable):
                        await self._find(owner, turn)  # which ends it when its server is gone

    def aclose(self) -> None:
        """Follow nothing more."""
        self._feed.aclose()
