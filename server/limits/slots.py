"""How much goes on at once, of each user and in all.

A slot lasts until its work ends, and at most for a number of seconds: then the work is ended. So a client that is
refused can be told for certain when a slot will be free.
"""

from __future__ import annotations

import asyncio
import math
import time
import weakref
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import anyio

from server.errors import ApiError
from server.requests.disconnect import TimeIsOver

T = TypeVar("T")

OTHERS: Final = "The server works for as many others as it may."


class Slot:
    """The place of one turn or run.

    Attributes:
        user: whose it is.
        ends: when it ends at the latest, by the clock of its slots.
        over: set when it has ended before its work; the work is to be ended then.
    """

    def __init__(self, slots: Slots, user: str, ends: float) -> None:
        self._slots = slots
        self.user = user
        self.ends = ends
        self.over = asyncio.Event()
        self._cancel: Callable[[], object] | None = None
        self._timer = asyncio.get_running_loop().call_later(max(0.0, ends - slots.clock()), self.end)

    def end(self) -> None:
        """Take the place from its work."""
        self.over.set()
        if self._cancel is not None:
            self._cancel()
        self.release()

    def release(self) -> None:
        """Give the place back; it may be called again."""
        self._timer.cancel()
        self._slots.discard(self)

    def release_with(self, owner: object) -> None:
        """Give the place back when an object is gone, in case nobody ever begins its work."""
        weakref.finalize(owner, self.release).atexit = False

    async def within(self, work: Awaitable[T]) -> T:
        """The result of some work, which is cancelled when the place is taken from it.

        Raises:
            TimeIsOver: that was so.
        """
        with anyio.CancelScope() as scope:
            self._cancel = scope.cancel
            if self.over.is_set():
                scope.cancel()
            try:
                return await work
            finally:
                self._cancel = None
                self.release()
        raise TimeIsOver


class Slots:
    """The places of one kind of work.

    Args:
        kind: what it is called in errors: `turns` or `runs`.
        of_user: how many places a user may have at the same time.
        in_all: how many there are.
        seconds: how long one lasts at most.
        clock: a clock that never goes back, in seconds.

    Attributes:
        on_end: called with the user when a place is given back.
    """

    def __init__(
        self, kind: str, of_user: int, in_all: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.on_end: Callable[[str], None] | None = None
        self._kind = kind
        self._of_user = of_user
        self._in_all = in_all
        self._seconds = seconds
        self.clock = clock
        self._taken: list[Slot] = []
        """The first taken first, so that the first is the first to end."""

    def take(self, user: str) -> Slot:
        """Take a place.

        Args:
            user: the user's id.

        Raises:
            ApiError: 429, there is none for this user, or none at all; `Retry-After` says when there will be.
        """
        now = self.clock()
        for slot in [slot for slot in self._taken if slot.ends <= now]:
            slot.end()
        mine = [slot for slot in self._taken if slot.user == user]
        if len(mine) >= self._of_user:
            message = f"{len(mine)} {self._kind} of yours go on already, which is the limit."
            raise self._refusal(message, mine[len(mine) - self._of_user].ends - now)
        if len(self._taken) >= self._in_all:
            raise self._refusal(OTHERS, self._taken[len(self._taken) - self._in_all].ends - now)
        slot = Slot(self, user, now + self._seconds)
        self._taken.append(slot)
        return slot

    def take_beyond(self, user: str) -> Slot:
        """Take a place for work that has begun elsewhere, whatever the limits."""
        slot = Slot(self, user, self.clock() + self._seconds)
        self._taken.append(slot)
        return slot

    def seconds_left(self, user: str) -> int:
        """The whole seconds after which the first of a user's must have ended; 1 when nothing goes on."""
        ends = [slot.ends for slot in self._taken if slot.user == user]
        return max(1, math.ceil(min(ends) - self.clock())) if ends else 1

    def discard(self, slot: Slot) -> None:
        """Forget a place that is not needed any more."""
        if slot in self._taken:
            self._taken.remove(slot)
            if self.on_end is not None:
                self.on_end(slot.user)

    def __len__(self) -> int:
        """How many places are taken."""
        return len(self._taken)

    def _refusal(self, message: str, seconds: float) -> ApiError:
        wait = max(1, math.ceil(seconds))
        fix = f"Try again when one has ended, which is in {wait} s at the latest."
        return ApiError(429, f"too_many_{self._kind}", message, fix, headers={"Retry-After": str(wait)})
