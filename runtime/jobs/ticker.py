"""Queues runs when their schedules are due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from runtime.database.backends.outage import Outage
from runtime.database.backends.urls import is_sqlite
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.jobs.schedules import Schedules

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 20.0
"""How often it is looked for schedules that another server has made."""

LONGEST_SECONDS: Final = 3_600.0


class Ticker:
    """Queues runs when they are due. Any number of processes may do so: each run is queued once.

    Args:
        database: where schedules are stored.
        queued: called when a run was queued.
    """

    def __init__(self, database: Database, queued: Callable[[], None]) -> None:
        self._database = database
        self._schedules = Schedules(database)
        self._queued = queued
        self._changed = asyncio.Event()

    def wake(self) -> None:
        """Say that a schedule was made or changed."""
        self._changed.set()

    async def run(self) -> None:
        """Queue runs until it is cancelled."""
        longest = LONGEST_SECONDS if is_sqlite(self._database.url) else LOOK_SECONDS
        outage = Outage(log, "schedules.not_looked_at")
        while True:
            self._changed.clear()
            try:
                if await self._schedules.run_due():
                    self._queued()
                due = await self._schedules.next_in()
                outage.is_over()
            except StoreUnavailable as failure:
                outage.goes_on(failure)
                due = None
            except Exception:
                log.exception("schedules.failed")
                due = None
            try:
                async with asyncio.timeout(longest if due is None else min(due + 0.01, longest)):
                    await self._changed.wait()
            except TimeoutError:
                continue
