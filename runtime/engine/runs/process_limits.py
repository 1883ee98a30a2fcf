"""Watches how much memory and how many threads the process of a run holds, and ends the run that has too much.

The limit of data that the kernel enforces counts memory as long as it can be written, and none that is shared. What is
resident or swapped cannot be hidden; pages of the engine's files, which are shared with every other run, do not count.
Threads have no limit of the kernel that holds for one process; all of a machine share its numbers of processes.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from runtime.engine.protocol import MAX_MEMORY_MB, MAX_THREADS

INTERVAL = 0.1
"""Seconds between two looks; a short run is over before the first."""
_HELD = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s*(\d+) kB", re.MULTILINE)
_PEAK = re.compile(rb"^VmHWM:\s*(\d+) kB", re.MULTILINE)
_THREADS = re.compile(rb"^Threads:\s*(\d+)", re.MULTILINE)


class ProcessLimits:
    """The limits of one run. All methods belong to one event loop."""

    def __init__(self, pid: int, timeout: asyncio.Timeout) -> None:
        """Look at the process from time to time.

        Args:
            pid: the process of the run.
            timeout: the time limit of the run, which is over at once when the process holds too much.
        """
        self.peak_mb = 0.0
        """The most MB that it held by the kernel's account when it was last looked at; 0 where that is not known."""
        self.exceeded: str | None = None
        """What a user reads when the process held too much."""
        self._timeout = timeout
        self._status = Path(f"/proc/{pid}/status")
        self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._look)

    def close(self, *, look: bool) -> None:
        """Look no more, or for the last time, where the process may be killed next and cannot say what it held."""
        self._timer.cancel()
        if look:
            self._read()

    def _read(self) -> bytes:
        """What the kernel says of the process; empty when it has ended, or where there is no /proc."""
        try:
            status = self._status.read_bytes()
        except OSError:
            return b""
        self.peak_mb = max(self.peak_mb, *(round(int(size) / 1024, 1) for size in _PEAK.findall(status)), 0.0)
        return status

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        if not (status := self._read()):
            return
        held = sum(int(size) for size in _HELD.findall(status)) / 1024
        threads = sum(int(number) for number in _THREADS.findall(status))
        if held > MAX_MEMORY_MB:
            self.exceeded = f"The run used more memory than it was allowed: {MAX_MEMORY_MB} MB."
        elif threads > MAX_THREADS:
            self.exceeded = f"The run started more threads than it was allowed: {MAX_THREADS}."
        if self.exceeded is None:
            self._timer = loop.call_later(INTERVAL, self._look)
        else:
            self._timeout.reschedule(loop.time())
