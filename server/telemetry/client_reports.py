"""How much each user's page may report."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

ITEMS: Final = 600
"""Metrics and events of one user within `WINDOW_SECONDS`."""

WINDOW_SECONDS: Final = 60.0

USERS: Final = 10_000
"""Users that are counted; the one that reported least recently is forgotten."""


class ClientReports:
    """Counts what each user reports, and says how long to wait beyond the limit.

    Args:
        clock: a clock that never goes back, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._windows: OrderedDict[str, tuple[float, int]] = OrderedDict()

    @property
    def users(self) -> int:
        """How many users are counted."""
        return len(self._windows)

    def take(self, user: str, items: int) -> int:
        """Count some items of a user.

        Returns:
            0 when they are taken, or the whole seconds to wait; they are not counted then.
        """
        now = self._clock()
        began, taken = self._windows.pop(user, (now, 0))
        if now - began >= WINDOW_SECONDS:
            began, taken = now, 0
        fits = taken + items <= ITEMS
        self._windows[user] = (began, taken + items if fits else taken)
        if len(self._windows) > USERS:
            self._windows.popitem(last=False)
        return 0 if fits else max(1, math.ceil(began + WINDOW_SECONDS - now))
