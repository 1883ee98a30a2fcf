"""The log of runs: what a user's flows were given and what they gave, kept for a time and to a number, and erasable."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Final

from runtime.database.backends.urls import is_sqlite
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.results import RunResult
from runtime.sessions.run_entry import INTERRUPTED, LoggedRun, RunEntry, RunState
from runtime.sessions.run_values import kept_values

if TYPE_CHECKING:
    from runtime.database.runs import RunRows

SETTLE_SECONDS: Final = 0.5
"""How long an entry waits for more of them: a transaction for ten runs takes hardly longer than one for a single run.

By then the run's own answer is on its way. Who reads or erases does not wait for it.
"""
KEPT: Final = 1_000
"""How many runs of a user are kept; the oldest are dropped first."""
MORE: Final = 20
"""How many more are stored at most until they are dropped together; nobody sees them."""
SEEN_SECONDS: Final = 10.0
"""How often it is noted that a run goes on."""
LOST_SECONDS: Final = 40.0
"""After how long without such a note a run counts as interrupted."""
PRUNE_SECONDS: Final = 600.0
"""How often runs that are too old are dropped."""
log = logging.getLogger(__name__)


class RunLog:
    """The runs of users in a database, written in the background: no run waits for its entry.

    What reads or erases waits until all that was recorded is written. A run that goes on is noted as seen from time to
    time, so that one whose process was killed is found to be interrupted. Every method but `record`, `begin` and
    `aclose` may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        days: how long they are kept; None drops none for its age.
    """

    def __init__(self, database: Database, days: float | None = None) -> None:
        self._database = database
        self._days = days
        self._waiting: list[LoggedRun] = []
        self._added: dict[str, int] = {}
        """How many runs of a user were added since the oldest were dropped; not here if they never were."""
        self._going_on: dict[str, str] = {}
        """The users of the runs that go on here, by the ids of the runs."""
        self._noted: set[str] = set()
        """Those of them that are stored as running, or are being stored: only they have a row to change."""
        self._seeing: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._pruned: float | None = None

    def record(self, user: str, entry: RunEntry, result: RunResult | None = None) -> None:
        """Keep a run that has ended, and what it gave.

        A failure to do so is logged, because the run itself has succeeded or failed already.
        """
        begun = entry.id in self._noted
        self._noted.discard(entry.id)
        self._going_on.pop(entry.id, None)
        self._add_later(LoggedRun(owner=user, entry=entry, result=result, begun=begun))

    async def add(self, user: str, entry: RunEntry, result: RunResult) -> None:
        """Keep a run that has ended, and return when that is stored or could not be.

        Raises:
            Done: it is kept already, as the step that this is a part of.
        """
        await self._add([LoggedRun(owner=user, entry=entry, result=result)])

    def begin(self, user: str, entry: RunEntry) -> None:
        """Note that a run has begun, and goes on here until it is recorded."""
        self._hold(user, entry)
        self._add_later(LoggedRun(owner=user, entry=entry))

    async def store_begun(self, user: str, entry: RunEntry) -> None:
        """Note that a run has begun as `begin` does, and return when that is stored."""
        self._hold(user, entry)
        self._noted.add(entry.id)
        try:
            await (await self._opened()).add([LoggedRun(owner=user, entry=entry)], (), KEPT)
        except StoreUnavailable:
            self._going_on.pop(entry.id, None)
            self._noted.discard(entry.id)
            raise

    async def entries(
        self, user: str, limit: int, offset: int = 0, flow: str = "", state: RunState | None = None
    ) -> tuple[list[RunEntry], int]:
        """A user's runs, latest first, and how many there are in all: of one flow, or in one state."""
        return await (await self._rows(user)).page(user, limit, offset, flow, state)

    async def get(self, user: str, run: str) -> RunEntry | None:
        """The run with this id, if it is kept."""
        found = await self.read(user, run)
        return None if found is None else found[0]

    async def read(self, user: str, run: str) -> tuple[RunEntry, str | None] | None:
        """The run with this id, if it is kept, and what it gave, as `kept_values` writes it."""
        return await (await self._rows(user)).get(user, run)

    async def ask_to_stop(self, user: str, run: str) -> None:
        """Ask the server that has a run to end it."""
        await (await self._opened()).ask_to_stop(user, run)

    async def asked_to_stop(self, runs: Collection[str]) -> list[tuple[str, str]]:
        """Those of some runs that another server asks to end, with their users."""
        return await (await self._opened()).asked_to_stop(runs)

    @property
    def is_shared(self) -> bool:
        """Whether other servers may use the database."""
        return not is_sqlite(self._database.url)

    async def remove(self, user: str, run: str | None = None) -> int:
        """Erase one run, or all of a user's that have ended; returns how many."""
        return await (await self._rows(user)).remove(user, run)

    async def aclose(self) -> None:
        """Wait until all that was recorded is written."""
        if self._seeing is not None and not self._going_on:
            self._seeing.cancel()
            self._seeing = None
        if self._writing is not None:
            self._wanted.set()
            await asyncio.shield(self._writing)

    def _hold(self, user: str, entry: RunEntry) -> None:
        self._going_on[entry.id] = user
        if self._seeing is None:
            self._seeing = asyncio.create_task(self._see())

    def _add_later(self, run: LoggedRun) -> None:
        self._waiting.append(run)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())

    async def _see(self) -> None:
        """Note from time to time what goes on, as long as anything does."""
        try:
            while self._going_on:
                await asyncio.sleep(SEEN_SECONDS)
                runs = [(user, run) for run, user in self._going_on.items()]
                if not runs:
                    return
                try:
                    await (await self._opened()).see(runs)
                except StoreUnavailable:
                    log.exception("assistant.run.not_seen")
        finally:
            if self._seeing is asyncio.current_task():
                self._seeing = None

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

    async def _add(self, entries: list[LoggedRun]) -> None:
        ended = {run.entry.id for run in entries if run.entry.state != "running"}
        entries = [run for run in entries if run.entry.state != "running" or run.entry.id not in ended]
        self._noted |= {run.entry.id for run in entries if run.entry.state == "running"}
        entries = await asyncio.to_thread(_with_details, entries)
        new = Counter(run.owner for run in entries)
        drop = {user for user, count in new.items() if self._added.get(user, MORE) + count > MORE}
        try:
            await (await self._opened()).add(entries, drop, KEPT)
        except StoreUnavailable:
            log.exception("assistant.run.not_recorded")
            return
        for user, count in new.items():
            self._added[user] = 0 if user in drop else self._added[user] + count

    async def _rows(self, user: str) -> RunRows:
        """The rows, once all that was recorded is written, what is too old is dropped, and what was lost is noted."""
        await self.aclose()
        rows = await self._opened()
        if self._added.get(user, MORE):
            await rows.add((), {user}, KEPT)
            self._added[user] = 0
        now = datetime.now(UTC)
        if self._days is not None and (self._pruned is None or monotonic() - self._pruned > PRUNE_SECONDS):
            self._pruned = monotonic()
            await rows.drop_ended((now - timedelta(days=self._days)).isoformat())
        await rows.interrupt(LOST_SECONDS, INTERRUPTED, tuple(self._going_on))
        return rows

    async def _opened(self) -> RunRows:
        await self._database.open()
        from runtime.database.runs import RunRows

        return RunRows(self._database)


def _with_details(runs: list[LoggedRun]) -> list[LoggedRun]:
    return [run if run.result is None else replace(run, detail=kept_values(run.result), result=None) for run in runs]
