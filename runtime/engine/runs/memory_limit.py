"""Watches how much memory the process of a run holds, in whatever way it was made, and ends the run that has too much.

The limit of data that the kernel enforces counts memory as long as it can be written, and none that is shared. What is
resident or swapped cannot be hidden; pages of the engine's files, which are shared with every other run, do not count.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from runtime.engine.protocol import MAX_MEMORY_MB

INTERVAL = 0.1
"""Seconds between two looks; a short run is over before the first."""
_HELD = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s*(\d+) kB", re.MULTILINE)


class MemoryLimit:
    """The limit of one run. All methods belong to one event loop."""

    def __init__(self, pid: int, timeout: asyncio.Timeout) -> None:
        """Look at the process from time to time.

        Args:
            pid: the process of the run.
            timeout: the time limit of the run, which is over at once when the process holds too much.
        """
        self.exceeded_mb = 0.0
        """How many MB it held when that was too much; 0 as long as it was not."""
        self._timeout = timeout
        self._status = Path(f"/proc/{pid}/status")
        self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._look)

    def close(self) -> None:
        """Stop looking."""
        self._timer.cancel()

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            held = sum(int(size) for size in _HELD.findall(self._status.read_bytes())) / 1024
        except OSError:
            return  # the process has ended, or this system has no /proc
        if held <= MAX_MEMORY_MB:
            self._timer = loop.call_later(INTERVAL, self._look)
            return
        self.exceeded_mb = held
        self._timeout.reschedule(loop.time())
