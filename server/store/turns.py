"""The events of turns as they are stored: by owner, turn and number."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

UNSTORED: Final = 1_024
"""How many events of a turn may have been sent that are not stored yet."""

LEASE_SECONDS: Final = 15.0
"""How long after it was last seen a server counts as gone, and its turns as interrupted."""

DURABLE_LEASE_SECONDS: Final = 4.0
"""The same for durable turns, with which another server goes on."""

BEAT_SECONDS: Final = 3.0
"""How often a server that takes turns notes that it is there."""

DURABLE_BEAT_SECONDS: Final = 0.9
"""The same for a server whose turns are durable."""

AT_ONCE: Final = 32_768
"""Characters of events that are encrypted or decrypted in less time than a busy loop takes to hear of a thread."""

LARGEST: Final = 2**31 - 1
"""The largest number that an event has."""

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
        is_lost: whether it has not ended, and the server that took it is gone.
    """

    state: str
    last: int
    is_gone: bool
    is_lost: bool = False


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
        attempt: counts the processes that have taken a durable turn; None for a turn that ends with its process.
    """

    owner: str
    turn: str
    session: str
    is_new: bool
    first: int
    lines: Sequence[bytes]
    state: str
    attempt: int | None = None

    @property
    def last(self) -> int:
        """The number of the last event."""
        return self.first + len(self.lines) - 1

    @property
    def size(self) -> int:
        """How many bytes they have."""
        return sum(map(len, self.lines))


@dataclass(frozen=True)
class TakenOver:
    """A durable turn with which this process goes on.

    Attributes:
        attempt: the number of this process.
        tries: how often the step has been begun at which it goes on, this time included.
        last: the number of the last event that is stored.
        stop_asked: whether it was to be stopped.
    """

    attempt: int
    tries: int
    last: int
    stop_asked: bool

    @property
    def sent(self) -> int:
        """The number of the last event that earlier processes may have sent: each may not have stored as many."""
        return self.last + UNSTORED * (self.attempt - 1)


class TurnStore(Protocol):
    """Stores the events of turns. Every method may raise `StoreUnavailable` or `SecretKeyUnavailable`."""

    @property
    def server(self) -> str:
        """The name of the server that takes the turns."""
        ...

    async def reserve(self, owner: str, turn: str, session: str, *, durable: bool = False) -> bool:
        """Store a turn without events; False, and nothing is stored, when its owner has one of this id."""
        ...

    async def append(self, added: Sequence[NewEvents], *, again: bool = False) -> Collection[NewEvents]:
        """Store events of several turns in one transaction; `again` after a failure, since it may have stored them.

        Returns:
            What was not stored, because other processes have taken these durable turns over.
        """
        ...

    async def take_over(self, owner: str, turn: str, step: int) -> TakenOver | None:
        """Take a durable turn that goes on; None if it has ended or is not known.

        Args:
            owner: whose it is.
            turn: its id.
            step: how many of its steps are recorded.
        """
        ...

    async def lost(self, *, mine: bool = False) -> Sequence[tuple[str, str]]:
        """The durable turns of servers that are gone; and of this one, if wanted."""
        ...

    async def claim(self, owner: str, turn: str, *, mine: bool = False) -> bool:
        """Become the server of a durable turn that is lost; of several servers, one does."""
        ...

    async def find(self, owner: str, turn: str) -> StoredTurn | None:
        """A turn, if it is there."""
        ...

    async def running(self, owner: str, session: str) -> str | None:
        """The turn of a conversation that runs, the latest if there are several."""
        ...

    async def forget(self, owner: str, *, session: str | None = None, turn: str | None = None) -> None:
        """Delete one turn, or the turns of a conversation that have ended."""
        ...

    async def prune(self) -> None:
        """Delete the events that are older than they are kept."""
        ...

    async def end_lost(self) -> int:
        """End the turns of servers that are gone: their last event says so; returns how many."""
        ...

    async def beat(self) -> None:
        """Note that this server is there, if that was not noted lately."""
        ...

    async def ask_to_stop(self, owner: str, turn: str) -> None:
        """Ask the server that takes a turn to stop it."""
        ...

    async def asked_to_stop(self) -> Sequence[tuple[str, str]]:
        """The turns of this server that it is asked to stop, with their owners."""
        ...

    async def runs_elsewhere(self, owner: str, session: str) -> bool:
        """Whether another server that is there takes a turn of a conversation."""
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
