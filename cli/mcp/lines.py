"""Lines of standard input, read in a thread that nothing waits for when the program ends."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator
from typing import Final

PIECE: Final = 65_536

LINES: Final = 100
"""How many lines are read ahead."""


async def stdin_lines() -> AsyncGenerator[bytes]:
    """The lines as they come, without blank ones, until the input ends."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue(LINES)
    descriptor = sys.stdin.fileno()

    def put(line: bytes | None) -> None:
        asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    def read() -> None:
        rest = b""
        try:
            while piece := os.read(descriptor, PIECE):
                *whole, rest = (rest + piece).split(b"\n")
                for line in whole:
                    put(line)
            put(rest)
            put(None)
        except RuntimeError:  # the loop has ended
            return

    threading.Thread(target=read, daemon=True, name="stdin").start()
    while (line := await lines.get()) is not None:
        if line.strip():
            yield line
