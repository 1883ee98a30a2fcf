"""A lock between processes, held on a file and let go by the system when its holder dies."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

PAUSE = 0.1
"""Seconds between two tries."""


class FileLock:
    """An exclusive lock on a file, which is created when it is not there and never deleted."""

    def __init__(self, path: Path) -> None:
        """Lock `path` when acquired; nothing happens yet."""
        self._path = path
        self._descriptor: int | None = None

    async def acquire(self, timeout: float, waiting: Callable[[], None]) -> bool:
        """Take the lock, waiting up to `timeout` seconds; `waiting` is called once if another process has it.

        Returns whether it was taken. Raises OSError when the file cannot be created.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        deadline = time.monotonic() + timeout
        told = False
        try:
            while not _try_lock(self._descriptor):
                if not told:
                    waiting()
                    told = True
                if time.monotonic() >= deadline:
                    self.release()
                    return False
                await asyncio.sleep(PAUSE)
        except BaseException:
            self.release()
            raise
        return True

    def release(self) -> None:
        """Let go; harmless when the lock is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
