"""What tests ask of processes that are not theirs."""

import asyncio
import os
import time


def alive(pid: int) -> bool:
    """Whether there is such a process, be it one that has ended and was not waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def ends(pid: int, seconds: float = 60) -> bool:
    """Whether a process that was told to end does: a busy machine takes its time to collect it."""
    deadline = time.monotonic() + seconds
    while alive(pid):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True
