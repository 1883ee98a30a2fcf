"""The keys of requests in the database, with the answers: encrypted, bounded in number and size, kept for a day."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from runtime.database.database import Database
from server.idempotency.known import KnownKey, State

if TYPE_CHECKING:
    from server.idempotency.rows import KeyRows

KEPT_SECONDS: Final = 24 * 3600
"""How long a key is kept, from when its request began."""

KEYS: Final = 10_000
"""Keys of a user that are kept at the same time."""

PRUNE_SECONDS: Final = 600.0
"""How often keys that are too old are removed."""


class TooManyKeys(Exception):
    """A user has as many keys as are kept; `seconds` says when the first of them will be gone."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"There are {KEYS:,} keys.")
        self.seconds = seconds


class IdempotencyKeys:
    """The keys of all users. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        clock: the time in seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self.clock = clock
        self._pruned = float("-inf")

    async def begin(self, user: str, key: str) -> KnownKey | None:
        """Take a key for a request that begins.

        Args:
            user: the user's id.
            key: the key.

        Returns:
            None when it is taken for this request, or what became of the request that took it before.

        Raises:
            TooManyKeys: the user has too many.
        """
        rows, now = await self._rows(), int(self.clock())
        if now - self._pruned >= PRUNE_SECONDS:
            self._pruned = now
            await rows.prune(now - KEPT_SECONDS)
        found = await rows.begin(user, key, now, now - KEPT_SECONDS, KEYS)
        if isinstance(found, int):
            raise TooManyKeys(max(1, found + KEPT_SECONDS + 1 - now))
        if found is None or not found.answer:
            return found
        answer = await asyncio.to_thread(self._database.documents.unseal_text, found.answer)
        return KnownKey(found.state, found.fingerprint, answer)

    async def finish(self, user: str, key: str, state: State, fingerprint: str, answer: str = "") -> None:
        """Keep what became of a request.

        Args:
            user: the user's id.
            key: the key that it took.
            state: what became of it.
            fingerprint: its digest.
            answer: the answer, as text.
        """
        sealed = await asyncio.to_thread(self._database.documents.seal_text, answer) if answer else ""
        await (await self._rows()).finish(user, key, KnownKey(state, fingerprint, sealed))

    async def release(self, user: str, key: str) -> None:
        """Give a key back, because its request has made nothing."""
        await (await self._rows()).release(user, key)

    async def _rows(self) -> KeyRows:
        await self._database.open()
        from server.idempotency.rows import KeyRows

        return KeyRows(self._database)
