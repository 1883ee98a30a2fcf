"""What keeps the server small: what it does not import, and the memory that it gives back once it has nothing to do."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Final

IDLE_SECONDS: Final = 2.0
"""How long nothing is under way before memory is given back."""


def import_httpx() -> None:
    """Import httpx without its command, for which it imports rich and pygments wherever they are installed."""
    if "httpx" in sys.modules:
        return
    sys.modules["httpx._main"] = None  # pyright: ignore[reportArgumentType]  (so the import system marks what is missing)
    try:
        import httpx  # noqa: F401  # pyright: ignore[reportUnusedImport]
    finally:
        del sys.modules["httpx._main"]


class IdleMemory:
    """Gives memory that was freed back to the system, when nothing has been under way for a while.

    The C library keeps what was freed for later: after a first question that is a tenth of what the server holds.

    Args:
        under_way: how much is under way.
        give_back: gives it back; it takes milliseconds, and is called in a thread.
    """

    def __init__(self, under_way: Callable[[], int], give_back: Callable[[], None] | None = None) -> None:
        self._under_way = under_way
        self._give_back = give_back or trim
        self._timer: asyncio.TimerHandle | None = None
        self._giving: asyncio.Future[None] | None = None

    def worked(self) -> None:
        """Note that something was done."""
        self.close()
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._look)

    def close(self) -> None:
        """Give nothing back any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        if self._under_way():
            self.worked()
        else:
            self._timer = None
            self._giving = asyncio.get_running_loop().run_in_executor(None, self._give_back)


def trim() -> None:
    """Have the C library give back what is free; only that of GNU can."""
    import ctypes

    try:
        found = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        return
    found(0)
