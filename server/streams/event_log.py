"""The numbered events of one turn: written once, read by any number of clients, each at a pace of its own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from server.store.turns import RUNNING, UNSTORED, Lines, NewEvents

UNSTORED_BYTES: Final = 4 * 1_024 * 1_024
"""Bytes of events that may wait to be stored before their turn waits."""

MANY: Final = 256
MANY_BYTES: Final = 96 * 1_024
"""Events, or bytes of them, that are not left waiting to be stored with others."""

LATEST_BYTES: Final = 64 * 1_024
"""Bytes of stored events that are kept for the readers that have kept up."""

READ_BYTES: Final = 64 * 1_024
"""Bytes of events beyond which no more are handed to a reader at once."""


@dataclass(eq=False)
class Reader:
    """The place of one client in the events.

    Attributes:
        at: the number of the last event that it was given.
    """

    at: int
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class EventLog:
    """The events of one turn. In memory are those that are not stored yet, and the latest.

    A reader that falls behind them reads what is stored, so it slows nobody and takes no memory. Only while events
    cannot be stored does the turn wait for its slowest reader.

    Args:
        owner: whose turn it is.
        turn: its id.
        session: its conversation.
        wake: called when there is something to store.
        is_new: whether nothing is stored of it.
        is_urgent: whether somebody may need the stored events soon.
        attempt: counts the processes that have taken a durable turn; None for another one.
        last: the number of the last event that earlier processes may have sent.

    Attributes:
        last: the number of the last event.
        stored: the number of the last event that is stored.
        state: `RUNNING`, or the kind of the last event.
        readers: who follows.
        attempt: as given.
        is_left: whether another process goes on with the turn, so that readers follow what it stores.
    """

    def __init__(
        self,
        owner: str,
        turn: str,
        session: str,
        wake: Callable[[EventLog], None],
        *,
        is_new: bool = True,
        is_urgent: bool = False,
        attempt: int | None = None,
        last: int = 0,
    ) -> None:
        self.owner, self.turn, self.session = owner, turn, session
        self.last = self.stored = last
        self.is_left = False
        self.attempt = attempt
        self.state = RUNNING
        self.readers: set[Reader] = set()
        self._wake = wake
        self._is_new = is_new
        self._is_urgent = is_urgent
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._unstored_bytes = 0
        self._is_failing = False
        self._room = asyncio.Event()
        self._settled = asyncio.Event()

    @property
    def has_ended(self) -> bool:
        """Whether the last event was written."""
        return self.state != RUNNING

    @property
    def is_urgent(self) -> bool:
        """Whether what is not stored should be soon."""
        return self._is_urgent or self.last - self.stored >= MANY or self._unstored_bytes >= MANY_BYTES

    @property
    def first(self) -> int:
        """The number of the first event in memory."""
        return self.last - len(self._lines) + 1

    def write(self, line: bytes, state: str = RUNNING) -> None:
        """Add an event.

        Args:
            line: its JSON.
            state: the turn's state after it.
        """
        if self.is_left:
            return
        self.last += 1
        self.state = state
        self._lines.append(line)
        self._bytes += len(line)
        self._unstored_bytes += len(line)
        for reader in self.readers:
            reader.woken.set()
        self._wake(self)

    async def room(self) -> None:
        """Wait while too much is in memory that is not stored."""
        while not (self._has_room() or self.is_left):
            self._room.clear()
            await self._room.wait()

    def unstored(self) -> NewEvents | None:
        """What is to be stored, if there is anything."""
        if self.stored == self.last or self.is_left:
            return None
        first = self.stored + 1
        lines = [self._lines[number - self.first] for number in range(first, self.last + 1)]
        return NewEvents(self.owner, self.turn, self.session, self._is_new, first, lines, self.state, self.attempt)

    def leave(self) -> None:
        """Leave the turn to another process; nothing is written here any more."""
        self.is_left = True
        for reader in self.readers:
            reader.woken.set()
        self._room.set()
        self.settle()

    def settle(self) -> None:
        """Note that nothing of the turn is stored any more by this process."""
        self._settled.set()

    async def settled(self) -> None:
        """Wait until the last event is stored, or cannot be, or the turn is left to another process."""
        await self._settled.wait()

    def has_stored(self, added: NewEvents) -> None:
        """Note that events are stored."""
        self._is_new = self._is_failing = False
        self._count_as_stored(added.last)
        self._let_go()

    def cannot_store(self) -> None:
        """Note that events cannot be stored for now."""
        self._is_failing = True
        self._let_go()

    async def read(self, reader: Reader, stored: Callable[[str, str, int], Awaitable[Lines]]) -> AsyncGenerator[Lines]:
        """The events after a reader's place, some at a time, as they come, to the last.

        Args:
            reader: whose place it is.
            stored: reads stored events of an owner and turn after a number.
        """
        while True:
            reader.woken.clear()
            if reader.at + 1 < self.first:
                lines = await stored(self.owner, self.turn, reader.at) or self._in_memory(self.first - 1)
            else:
                lines = self._in_memory(reader.at)
            if lines:
                reader.at = lines[-1][0]
                yield lines
                if self._is_failing:
                    self._let_go()
            elif self.has_ended or self.is_left:
                return
            else:
                await reader.woken.wait()

    def _in_memory(self, after: int) -> Lines:
        lines: list[tuple[int, bytes]] = []
        size = 0
        for number in range(max(after + 1, self.first), self.last + 1):
            lines.append((number, self._lines[number - self.first]))
            size += len(lines[-1][1])
            if size >= READ_BYTES:
                break
        return lines

    def _has_room(self) -> bool:
        return self.last - self.stored < UNSTORED and self._unstored_bytes < UNSTORED_BYTES

    def _let_go(self) -> None:
        """Forget what is stored, up to the latest; and, while nothing can be stored, what every reader was given."""
        if self._is_failing and self.readers and not (self.has_ended or self._has_room()):
            self._count_as_stored(min(self.last, *(reader.at for reader in self.readers)))
        while self._lines and self.first <= self.stored and self._bytes > LATEST_BYTES:
            self._bytes -= len(self._lines.popleft())
        if self._has_room():
            self._room.set()

    def _count_as_stored(self, last: int) -> None:
        for number in range(self.stored + 1, last + 1):
            self._unstored_bytes -= len(self._lines[number - self.first])
            self.stored = number
