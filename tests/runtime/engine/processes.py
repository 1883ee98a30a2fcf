"""What tests ask of processes that are not theirs."""

import os


def alive(pid: int) -> bool:
    """Whether there is such a process, be it one that has ended and was not waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
