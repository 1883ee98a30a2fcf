"""The log of usage: written in the background, once for each turn and run, and summed up by day."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.usage.entry import Usage, UsageKey, UsageSum

if TYPE_CHECKING:
    from runtime.usage.rows import UsageRows

SETTLE_SECONDS: Final = 1.0
"""How long usage waits for more of it before it is written: a transaction a turn would cost a third of the turn."""

RETRY_SECONDS: Final = 1.0
"""How long it waits for a database that cannot be written, before it tries again; then twice as long each time."""

LONGEST_SECONDS: Final = 15.0
"""How long it waits at most between two tries."""

WAITING_LIMIT: Final = 10_000
"""How many sums by user, day and model wait at most."""

MODEL_LENGTH: Final = 200
"""Characters of a model's name that are kept."""

log = logging.getLogger(__name__)


class UsageLog:
    """What users have used, in a database. No turn and no run waits for it to be written.

    What cannot be written waits, added up by user, day and model, and is tried again until it is. What reads waits
    until all that was recorded is written. Every method but `record` and `aclose` may raise `StoreUnavailable`.

    Args:
        database: where it is stored.
        clock: the time in UTC.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self.clock = clock
        self._waiting: dict[UsageKey, Usage] = {}
        self._writing: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()

    def record(self, user: str, used: Mapping[str, Usage]) -> None:
        """Count what one turn or run used.

        Args:
            user: the user's id.
            used: by model, `provider:name`.
        """
        self._wait(*self.keyed(user, used).items())
        self._begin_writing()

    def keyed(self, user: str, used: Mapping[str, Usage]) -> dict[UsageKey, Usage]:
        """What one turn or run used, as it is stored: without what used nothing.

        Args:
            user: the user's id.
            used: by model, `provider:name`.
        """
        day = self.clock().date().isoformat()
        return {
            (user, day, model.replace("\0", "")[:MODEL_LENGTH]): usage
            for model, usage in used.items()
            if usage != Usage()
        }

    async def add(self, user: str, used: Mapping[str, Usage]) -> None:
        """Count what one turn used, and return when that is stored.

        Raises:
            Done: it was counted before, as the step that this is a part of.
        """
        if counted := self.keyed(user, used):
            await (await self._opened()).add(counted)

    async def today(self, user: str) -> Usage:
        """What a user has used today, in UTC."""
        day = self.clock().date().isoformat()
        (found,) = await self.sums(user, day, day, ())
        return found.usage

    async def sums(self, user: str | None, first: str, last: str, by: Sequence[str]) -> list[UsageSum]:
        """What was used from a day to a day, both included.

        Args:
            user: the user's id; None for all users.
            first: the first day, `YYYY-MM-DD`.
            last: the last one.
            by: what it is grouped by: some of `day`, `model` and `user`; by nothing, there is one sum.
        """
        rows = await self._opened()
        await self._settle()
        if self._waiting:
            try:
                await self._add(rows)
            except StoreUnavailable:
                self._begin_writing()
                raise
        return await rows.sums(user, first, last, by)

    async def aclose(self) -> None:
        """Wait until all that was recorded is written, or could not be."""
        await self._settle()
        if self._waiting:
            try:
                await self._add(await self._opened())
            except StoreUnavailable:
                log.exception("assistant.usage.not_recorded")

    def _begin_writing(self) -> None:
        if self._waiting and self._writing is None:
            self._writing = asyncio.create_task(self._write())

    def _wait(self, *used: tuple[UsageKey, Usage]) -> None:
        for key, usage in used:
            if key not in self._waiting and len(self._waiting) >= WAITING_LIMIT:
                log.error("assistant.usage.not_recorded: too much of it waits for the database")
                continue
            self._waiting[key] = self._waiting.get(key, Usage()) + usage

    async def _settle(self) -> None:
        if self._writing is not None:
            self._wanted.set()
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        pause, is_told = SETTLE_SECONDS, False
        try:
            while self._waiting:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), pause)
                try:
                    await self._add(await self._opened())
                except StoreUnavailable as failure:
                    if not is_told:
                        log.warning("assistant.usage.waits", exc_info=failure)
                    if self._wanted.is_set():
                        return  # who wants it tries once more, and says so if that fails
                    pause = min(2 * pause, LONGEST_SECONDS) if is_told else RETRY_SECONDS
                    is_told = True
        finally:
            self._writing = None
            self._wanted.clear()

    async def _add(self, rows: UsageRows) -> None:
        used, self._waiting = self._waiting, {}
        try:
            await rows.add(used)
        except BaseException:
            self._wait(*used.items())
            raise

    async def _opened(self) -> UsageRows:
        await self._database.open()
        from runtime.usage.rows import UsageRows

        return UsageRows(self._database)
