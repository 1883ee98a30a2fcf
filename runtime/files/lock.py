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
    """A lock on a file, which is created when it is not there and never deleted by this."""

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        """Lock `path` when acquired, for itself or `shared` with others that share it; nothing happens yet."""
        self._path = path
        self._shared = shared
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int | None:
        """The descriptor that holds the lock; a process that inherits it holds the lock as well."""
        return self._descriptor

    def try_acquire(self) -> bool:
        """Take the lock if it is free, and say whether it was. Raises OSError when the file cannot be created."""
        descriptor = self._open()
        try:
            taken = _try_lock(descriptor, shared=self._shared)
        except BaseException:
            self.release()
            raise
        if not taken:
            self.release()
        return taken

    async def acquire(self, timeout: float, waiting: Callable[[], None]) -> bool:
        """Take the lock, waiting up to `timeout` seconds; `waiting` is called once if another process has it.

        Returns whether it was taken. Raises OSError when the file cannot be created.
        """
        descriptor = self._open()
        deadline = time.monotonic() + timeout
        told = False
        try:
            while not _try_lock(descriptor, shared=self._shared):
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

    def _open(self) -> int:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        return self._descriptor

    def release(self) -> None:
        """Let go; harmless when the lock is not held."""
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
