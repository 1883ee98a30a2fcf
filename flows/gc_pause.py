"""Pausing the garbage collector while many objects are created that stay, and leaving out of it what stays."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

FREEZES: Final = 3
"""After how many full collections what is left is taken for what stays."""


@contextmanager
def collection_paused(*, freeze: bool = False) -> Generator[None]:
    """Pause automatic garbage collection for one piece of work that creates many objects and keeps them all.

    A collection is triggered by the number of new objects and also traverses every old one, which in a loaded server
    nearly doubles the time to build a flow of 1,000 nodes. If collection is already off it stays off, so this may be
    nested and used by several threads.

    Args:
        freeze: leave all that exists by then out of every later collection, for a process that has imported what it
            needs: the first collection afterwards takes as long as a tenth of the imports, and so does each full one.
    """
    paused = gc.isenabled()
    if paused:
        gc.disable()
    try:
        yield
    finally:
        if freeze:
            gc.freeze()
        if paused:
            gc.enable()


class SurvivorsFrozen:
    """Leaves what the first full collections have not freed out of all later ones, inside a `with` block.

    A server imports much when its first requests need it, and keeps it: looking through it again and again took 50 ms
    of every fiftieth turn. What was in use by chance at that time is still freed when its last reference goes, except
    in a circle: so this is done a few times, and not for ever.

    Args:
        times: after how many full collections.
    """

    def __init__(self, times: int = FREEZES) -> None:
        self._left = times

    def __enter__(self) -> None:
        gc.callbacks.append(self._collected)

    def __exit__(self, *_: object) -> None:
        if self._collected in gc.callbacks:
            gc.callbacks.remove(self._collected)

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        if phase == "stop" and info["generation"] == 2:
            gc.freeze()
            self._left -= 1
            if not self._left:
                gc.callbacks.remove(self._collected)
