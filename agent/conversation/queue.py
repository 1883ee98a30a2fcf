"""The turns of a conversation, one at a time: a message that comes while another is worked on waits."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from agent.errors import AssistantUnavailable
from agent.turn.result import TurnError

WAITING = 8
"""How many messages of one conversation may wait while another is worked on."""

DELETE_SECONDS = 5.0
"""The time limit for deleting a conversation again after a turn that has saved itself."""


@dataclass
class _Line:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    present: int = 0
    deletions: int = 0
    delete: Callable[[], Awaitable[None]] | None = None


class TurnQueue:
    """Lets one turn of a conversation run at a time, in the order in which they came.

    Args:
        waiting: how many turns of a conversation may wait.
    """

    def __init__(self, waiting: int = WAITING) -> None:
        self._waiting = waiting
        self._lines: dict[tuple[str, str], _Line] = {}

    @property
    def running(self) -> int:
        """How many turns run or wait, in all conversations."""
        return sum(line.present for line in self._lines.values())

    def waiting(self, user: str, session: str) -> int:
        """How many turns of a conversation wait for one that runs."""
        line = self._lines.get((user, session))
        return 0 if line is None else line.present - 1

    def busy(self, user: str, session: str) -> bool:
        """Whether a turn of a conversation runs or waits."""
        return (user, session) in self._lines

    @asynccontextmanager
    async def alone(self, user: str, session: str) -> AsyncGenerator[bool]:
        """Hold a conversation in which no turn runs; turns that come meanwhile wait.

        Args:
            user: the user's id.
            session: the conversation's id.

        Yields:
            Whether it is held; if not, a turn of it runs or waits.
        """
        if self.busy(user, session):
            yield False
            return
        async with self.turn(user, session, _nothing):
            yield True

    async def forget(self, user: str, session: str, delete: Callable[[], Awaitable[None]]) -> None:
        """Delete a conversation now, and again after each turn of it that was sent before and saves itself later.

        Args:
            user: the user's id.
            session: the conversation's id.
            delete: deletes what is stored of it.
        """
        line = self._lines.get((user, session))
        if line is not None:
            line.deletions += 1
            line.delete = delete
        await delete()

    @asynccontextmanager
    async def turn(self, user: str, session: str, waits: Callable[[], Awaitable[None]]) -> AsyncGenerator[bool]:
        """Take a turn of a conversation, when those before it have ended.

        Args:
            user: the user's id.
            session: the conversation's id.
            waits: called once if others are before this one.

        Yields:
            Whether it had to wait, so that what was read before may be outdated.

        Raises:
            AssistantUnavailable: too many are waiting.
        """
        key = (user, session)
        line = self._lines.setdefault(key, _Line())
        before = line.present
        if before > self._waiting:
            message = f"{before - 1} messages of this conversation are waiting already; this one was not taken."
            fix = "Send it again when the others are answered, or stop the turn that runs."
            raise AssistantUnavailable(TurnError(code="queue_full", message=message, fix=fix))
        line.present += 1
        deletions = line.deletions
        try:
            if before:
                await waits()
            async with line.lock:  # asyncio's locks are fair
                try:
                    yield before > 0
                finally:
                    if line.delete is not None and line.deletions > deletions:
                        with anyio.move_on_after(DELETE_SECONDS, shield=True):
                            await line.delete()
        finally:
            line.present -= 1
            if not line.present and self._lines.get(key) is line:
                del self._lines[key]


async def _nothing() -> None:
    """Nobody is told of a wait that does not happen."""
