"""Whether the database can be written now, asked seldom enough that nobody can keep it busy by asking."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from runtime.database.database import Database
from runtime.database.errors import DatabaseSlow, StoreUnavailable

KNOWN_SECONDS = 1.0
"""How long an answer is good for."""

CHECK_SECONDS = 4.0
"""How long the database may take."""

log = logging.getLogger(__name__)


class DatabaseHealth:
    """The state of a database.

    Args:
        database: the database.
        clock: seconds that only grow.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._asking = asyncio.Lock()
        self._known: tuple[float, StoreUnavailable | None] | None = None

    async def failure(self) -> StoreUnavailable | None:
        """Why the database cannot be written now; None when it can."""
        async with self._asking:
            now = self._clock()
            if self._known is None or now >= self._known[0] + KNOWN_SECONDS:
                before = None if self._known is None else self._known[1]
                found = await self._ask()
                if found is not None and (before is None or before.message != found.message):
                    log.error("store.not_ready", exc_info=found)
                self._known = (self._clock(), found)
            return self._known[1]

    async def _ask(self) -> StoreUnavailable | None:
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await self._database.check()
        except StoreUnavailable as failure:
            return failure
        except TimeoutError:
            return DatabaseSlow()
        return None
