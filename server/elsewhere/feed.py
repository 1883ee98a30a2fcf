"""What is stored of turns that are followed here, read for all followers together, on one connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import floor
from typing import TYPE_CHECKING, Final

from runtime.database.backends.urls import is_sqlite
from runtime.database.errors import StoreUnavailable
from server.store.news import News, Place
from server.store.sessions import turn_name
from server.store.turns import LARGEST, StoredTurn

if TYPE_CHECKING:
    from runtime.jobs.wake import Listener
    from server.store.queued_turns import QueuedTurns

POLL_SECONDS: Final = 0.25
"""How often turns are looked at that run elsewhere, if nothing tells of them."""

TOLD_SECONDS: Final = 0.5
"""The same where notices are heard: processes of earlier versions give none."""

READ_AT_ONCE: Final = 100
"""How many turns are read in one query."""

PATIENCE_SECONDS: Final = 30.0
"""How long a follower waits for a database that does not answer."""


class StoredFeed:
    """Reads the stored events of turns for all that follow them here.

    Args:
        url: the database, as an SQLAlchemy URL.
        store: opens the stored turns.
    """

    def __init__(self, url: str, store: Callable[[], Awaitable[QueuedTurns]]) -> None:
        self._store = store
        self._wanted: list[tuple[Place, asyncio.Future[News]]] = []
        self._reading: asyncio.Task[None] | None = None
        self._told: dict[str, set[Following]] = {}
        self._url = url
        self._listener: Listener | None = None
        self._listening: asyncio.Task[None] | None = None

    async def read(self, owner: str, turn: str, after: int) -> News:
        """How a turn stands, and its next events after number `after`.

        Raises:
            StoreUnavailable: it cannot be read, for as long as a follower waits.
            SecretKeyUnavailable: its events were encrypted with another key.
        """
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while True:
            try:
                return await self._next((owner, turn, after))
            except StoreUnavailable:  # such as while the database is started again
                if loop.time() - begun > PATIENCE_SECONDS:
                    raise
                await asyncio.sleep(POLL_SECONDS)

    async def look(self, owner: str, turn: str) -> StoredTurn | None:
        """How a turn stands, if it is known.

        Raises:
            StoreUnavailable: it cannot be read.
        """
        return (await self._next((owner, turn, LARGEST))).turn

    async def _next(self, place: Place) -> News:
        future: asyncio.Future[News] = asyncio.get_running_loop().create_future()
        self.want(place, future)
        return await future

    def want(self, place: Place, future: asyncio.Future[News]) -> None:
        """Read what is new at a place, together with what others want in this moment.

        Args:
            place: the place.
            future: gets it, or the failure.
        """
        self._wanted.append((place, future))
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read(), name="turns-reading")

    def follow(self, owner: str, turn: str) -> Following:
        """Begin to hear of a turn."""
        if self._listener is None and not is_sqlite(self._url):
            from runtime.jobs.wake import TURNS, Listener

            self._listener = Listener(self._url, self._heard, TURNS)
            self._listening = asyncio.create_task(self._listener.run(), name="turns-listening")
        return Following(self._told, owner, turn, self)

    @property
    def pause(self) -> float:
        """How many seconds nothing may be heard of a turn before it is looked at."""
        return TOLD_SECONDS if self._listener is not None and self._listener.is_listening else POLL_SECONDS

    def next_look(self, now: float) -> float:
        """When a turn is looked at of which nothing is heard: all at the same moments, so that they are read together.

        Args:
            now: the time of the loop.
        """
        return (floor(now / self.pause) + 1) * self.pause

    def aclose(self) -> None:
        """Hear nothing more."""
        if self._listening is not None:
            self._listening.cancel()

    def _heard(self, notice: str) -> None:
        names = notice.split() if notice else list(self._told)
        for name in names:
            for following in self._told.get(name, ()):
                following.hear()

    async def _read(self) -> None:
        """Read what is wanted; what is wanted meanwhile is read together afterwards."""
        await asyncio.sleep(0)  # what others want in the same moment is read at once
        while self._wanted:
            taken, self._wanted = self._wanted[:READ_AT_ONCE], self._wanted[READ_AT_ONCE:]
            places = list(dict.fromkeys(place for place, _ in taken))
            try:
                found = dict(zip(places, await (await self._store()).news(places), strict=True))
            except Exception as failure:  # noqa: BLE001  (each follower gets it)
                for _, future in taken:
                    if not future.done():
                        future.set_exception(failure)
                continue
            for place, future in taken:
                if not future.done():
                    future.set_result(found[place])


class Following:
    """Hears of one turn for as long as the block lasts, and is given what is new of it without asking again."""

    def __init__(self, told: dict[str, set[Following]], owner: str, turn: str, feed: StoredFeed) -> None:
        self._told = told
        self._turn = (owner, turn)
        self._name = turn_name(owner, turn)
        self._feed = feed
        self._has_heard = True
        self._waiting: tuple[Place, asyncio.Future[News]] | None = None

    def __enter__(self) -> Following:
        self._told.setdefault(self._name, set()).add(self)
        return self

    def __exit__(self, *error: object) -> None:
        those = self._told.get(self._name, set())
        those.discard(self)
        if not those:
            self._told.pop(self._name, None)

    def hear(self) -> None:
        """Something is stored of the turn: who waits for it is given it; who does not finds that there is more."""
        if self._waiting is None:
            self._has_heard = True
        else:
            self._ask()

    async def news(self, after: int, *, at_once: bool = False) -> News:
        """How the turn stands, and its next events after number `after`, once something is heard or it is time to look.

        Args:
            after: the number of the last event that is known.
            at_once: whether it is read in any case, such as because there was more than was read at one time.

        Raises:
            StoreUnavailable: it cannot be read, for as long as a follower waits.
            SecretKeyUnavailable: its events were encrypted with another key.
        """
        if not (self._has_heard or at_once):
            loop = asyncio.get_running_loop()
            future: asyncio.Future[News] = loop.create_future()
            self._waiting = (*self._turn, after), future
            look = loop.call_at(self._feed.next_look(loop.time()), self._ask)
            with suppress(StoreUnavailable):  # it is tried for longer than once
                try:
                    return await future
                finally:
                    look.cancel()
                    self._waiting = None
        self._has_heard = False  # what is read from now on includes it
        return await self._feed.read(*self._turn, after)

    def _ask(self) -> None:
        """Let what is waited for be read; what is heard from now on may come after it."""
        if self._waiting is not None:
            wanted, self._waiting = self._waiting, None
            self._feed.want(*wanted)
