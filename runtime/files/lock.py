"""A lock between processes, held on a file; the system releases it when its holder dies."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

PAUSE = 0.1
"""Seconds between two attempts."""


class FileLock:
    """A lock on a file, which is created if it is missing and never deleted."""

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        """Prepare a lock on `path`, exclusive or `shared` with other shared locks; nothing happens yet."""
        self._path = path
        self._shared = shared
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int | None:
        """The descriptor that holds the lock; a process that inherits it holds the lock as well."""
        return self._descriptor

    def try_acquire(self) -> bool:
        """Take the lock if it is free; returns whether it was. Raises OSError when the file cannot be created."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        acquired = False
        try:
            acquired = _try_lock(self._descriptor, shared=self._shared)
        finally:
            if not acquired:
                self.release()
        return acquired

    async def acquire(self, timeout: float, waiting: Callable[[], None]) -> bool:
        """Take the lock, waiting up to `timeout` seconds; `waiting` is called once if another process has it.

        Returns whether it was taken. Raises OSError when the file cannot be created.
        """
        if self.try_acquire():
            return True
        deadline = time.monotonic() + timeout
        waiting()
        while time.monotonic() < deadline:
            await asyncio.sleep(PAUSE)
            if self.try_acquire():
                return True
        return False

    def release(self) -> None:
        """Release the lock; does nothing when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _try_lock(descriptor: int, *, shared: bool) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
