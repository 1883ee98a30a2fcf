"""The memory of a session whose database may be away for a while, such as while it is started again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Final, TypeVar

from runtime.database.errors import StoreUnavailable
from runtime.keychain.master_key import SecretKeyUnavailable
from runtime.sessions.memory import SessionMemory
from runtime.sessions.messages import Message, MessageChanges

RETRY_SECONDS: Final = 0.5
"""How long it waits before it tries again."""

PATIENCE_SECONDS: Final = 10.0
"""How long a run waits for which a person waits."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class PatientMemory:
    """The messages of a session, which waits for its database.

    A run that has succeeded is not lost because its messages could not be kept at once.

    Attributes:
        memory: the messages.
        seconds: how long it waits; without an end for a job, which its worker ends when others have been given it.
    """

    memory: SessionMemory
    seconds: float = inf

    async def load(self) -> list[Message]:
        """Its messages, oldest first."""
        return await self._patient(self.memory.load)

    async def save(self, changes: MessageChanges) -> None:
        """Keep what a run made of them, once."""
        is_again = False

        async def save() -> None:
            nonlocal is_again
            if is_again and await self._is_kept(changes):
                return  # what failed was only the answer
            is_again = True
            await self.memory.save(changes)

        await self._patient(save)

    async def _is_kept(self, changes: MessageChanges) -> bool:
        added = {each.id for each in changes.added}
        return bool(added) and added <= {each.id for each in await self.memory.load()}

    async def _patient(self, work: Callable[[], Awaitable[_T]]) -> _T:
        until = monotonic() + self.seconds
        while True:
            try:
                return await work()
            except SecretKeyUnavailable:
                raise
            except StoreUnavailable:
                if monotonic() >= until:
                    raise
            await asyncio.sleep(RETRY_SECONDS)
