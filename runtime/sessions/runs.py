"""The log of runs: what a user's flows were given and what they gave, kept to a bounded number and erasable."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.sessions.run_entry import RunEntry

if TYPE_CHECKING:
    from runtime.database.runs import RunRows

SETTLE_SECONDS: Final = 0.5
"""How long an entry waits for more of them: a transaction for ten runs takes hardly longer than one for a single run.

By then the run's own answer is on its way. Who reads or erases does not wait for it.
"""
KEPT: Final = 200
"""How many runs of a user are kept; the oldest are dropped first."""
MORE: Final = 20
"""How many more are stored at most until they are dropped together; nobody sees them."""
log = logging.getLogger(__name__)


class RunLog:
    """The runs of users in a database, written in the background: no run waits for its entry.

    What reads or erases waits until all that was recorded is written. Every method but `record` and `aclose` may raise
    `StoreUnavailable`.

    Args:
        database: where they are stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[tuple[str, RunEntry]] = []
        self._added: dict[str, int] = {}
        """How many runs of a user were added since the oldest were dropped; not here if they never were."""
        self._writing: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()

    def record(self, user: str, entry: RunEntry) -> None:
        """Keep a run; a failure to do so is logged, because the run itself has succeeded or failed already."""
        self._waiting.append((user, entry))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())

    async def entries(self, user: str, limit: int, offset: int = 0) -> tuple[list[RunEntry], int]:
        """A user's runs, latest first, and how many there are in all."""
        return await (await self._rows(user)).page(user, limit, offset)

    async def get(self, user: str, run: str) -> RunEntry | None:
        """The run with this id, if it is kept."""
        return await (await self._rows(user)).get(user, run)

    async def remove(self, user: str, run: str | None = None) -> int:
        """Erase one run, or all of a user's; returns how many."""
        return await (await self._rows(user)).remove(user, run)

    async def aclose(self) -> None:
        """Wait until all that was recorded is written."""
        if self._writing is not None:
            self._wanted.set()
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        try:
            while self._waiting:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), SETTLE_SECONDS)
                entries, self._waiting = self._waiting, []
                await self._add(entries)
        finally:
            self._writing = None
            self._wanted.clear()

    async def _add(self, entries: list[tuple[str, RunEntry]]) -> None:
        new = Counter(user for user, _ in entries)
        drop = {user for user, count in new.items() if self._added.get(user, MORE) + count > MORE}
        try:
            await (await self._opened()).add(entries, drop, KEPT)
        except StoreUnavailable:
            log.exception("assistant.run.not_recorded")
            return
        for user, count in new.items():
            self._added[user] = 0 if user in drop else self._added[user] + count

    async def _rows(self, user: str) -> RunRows:
        """The rows, once all that was recorded is written and what is too old of this user's is dropped."""
        await self.aclose()
        rows = await self._opened()
        if self._added.get(user, MORE):
            await rows.add((), {user}, KEPT)
            self._added[user] = 0
        return rows

    async def _opened(self) -> RunRows:
        await self._database.open()
        from runtime.database.runs import RunRows

        return RunRows(self._database)
