"""Linux system calls that keep the processes of a run together; on other systems they do nothing."""

import contextlib
import ctypes
import functools
import os
import signal
import sys
from collections.abc import Container
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
MADV_COLLAPSE = 25
HUGE_PAGE = 2 * 1024 * 1024


@functools.cache
def library() -> ctypes.CDLL:
    """The C library. Loading it takes longer than a call, so it is loaded before processes are forked."""
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            library().prctl(option, value, 0, 0, 0)


def end_with_parent(parent: int) -> None:
    """Have this process killed when `parent`, which forked it, dies."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose parent ends, so that none outlives its run unnoticed."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_orphans(known: Container[int]) -> None:
    """Kill and reap every child process that is not `known`: those that a run started and left behind."""
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    with contextlib.suppress(OSError):
        for word in listing.read_text(encoding="ascii").split():
            if (pid := int(word)) not in known:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def gather_memory() -> int:
    """Collapse this process's private memory into huge pages, so that forking it copies far fewer page table entries.

    Returns the number of huge pages: 0 where the kernel does not support this.
    """
    gathered = 0
    if sys.platform != "linux":
        return gathered
    with contextlib.suppress(OSError, AttributeError, ValueError):
        advise = library().madvise
        for start, end in _private_memory(Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")):
            for place in range(-(-start // HUGE_PAGE) * HUGE_PAGE, end - HUGE_PAGE + 1, HUGE_PAGE):
                gathered += advise(ctypes.c_void_p(place), ctypes.c_size_t(HUGE_PAGE), MADV_COLLAPSE) == 0
    return gathered


def _private_memory(maps: str) -> list[tuple[int, int]]:
    """The address ranges of private memory without a file, from the text of `/proc/PID/maps`."""
    lines = [line.split(maxsplit=5) for line in maps.splitlines()]
    mine = [parts[0] for parts in lines if parts[1] == "rw-p" and (len(parts) == 5 or parts[5] == "[heap]")]
    return [(int(start, 16), int(end, 16)) for start, _, end in (place.partition("-") for place in mine)]
