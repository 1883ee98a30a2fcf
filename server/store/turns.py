"""The events of turns as they are stored: by owner, turn and number."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

UNSTORED: Final = 1_024
"""How many events of a turn may have been sent that are not stored yet."""

RUNNING: Final = "running"
"""The state of a turn that has not ended; every other state is the kind of its last event."""

Lines = Sequence[tuple[int, bytes]]
"""Events by number, each one line of JSON."""


@dataclass(frozen=True)
class StoredTurn:
    """A turn of which events are stored.

    Attributes:
        state: `RUNNING`, or the kind of its last event.
        last: the number of its last event, if it has ended.
        is_gone: whether its events are too old to be kept.
    """

    state: str
    last: int
    is_gone: bool


@dataclass(frozen=True)
class NewEvents:
    """What is added to the stored events of a turn.

    Attributes:
        owner: whose turn it is.
        turn: its id.
        session: its conversation.
        is_new: whether nothing is stored of the turn.
        first: the number of the first event.
        lines: the events.
        state: the turn's state after the last of them.
    """

    owner: str
    turn: str
    session: str
    is_new: bool
    first: int
    lines: Sequence[bytes]
    state: str

    @property
    def last(self) -> int:
        """The number of the last event."""
        return self.first + len(self.lines) - 1


class TurnStore(Protocol):
    """Stores the events of turns. Every method may raise `StoreUnavailable` or `SecretKeyUnavailable`."""

    async def reserve(self, owner: str, turn: str, session: str) -> bool:
        """Store a turn without events; False, and nothing is stored, when its owner has one of this id."""
        ...

    async def append(self, added: Sequence[NewEvents], *, again: bool = False) -> None:
        """Store events of several turns in one transaction; `again` after a failure, since it may have stored them."""
        ...

    async def find(self, owner: str, turn: str) -> StoredTurn | None:
        """A turn, if it is there."""
        ...

    async def runs_elsewhere(self, owner: str, session: str, seconds: float) -> bool:
        """Whether another server takes a turn of a conversation, begun no longer ago than a turn may last."""
        ...

    async def read(self, owner: str, turn: str, after: int) -> Lines:
        """The next events with higher numbers than `after`, some at a time."""
        ...

    async def forget(self, owner: str, *, session: str | None = None, turn: str | None = None) -> None:
        """Delete one turn, or the turns of a conversation that have ended."""
        ...

    async def prune(self) -> None:
        """Delete the events that are older than they are kept."""
        ...


class SteadyClock:
    """The time of the day when it was made, carried on by a clock that never jumps.

    Args:
        seconds: a clock that never goes back.
        now: the time of the day, in seconds since the epoch.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic, now: Callable[[], float] = time.time) -> None:
        self._seconds = seconds
        self._offset = now() - seconds()

    def at(self, ago: float = 0.0) -> str:
        """The time so many seconds ago, ISO 8601 in UTC; texts compare as the times do."""
        moment = datetime.fromtimestamp(self._offset + self._seconds(), UTC) - timedelta(seconds=ago)
        return moment.isoformat(timespec="milliseconds")
