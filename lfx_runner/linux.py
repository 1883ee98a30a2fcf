"""The few things only Linux offers that keep a run's processes together; elsewhere they do nothing."""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Container
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def end_with_parent(parent: int) -> None:
    """Have this process killed when `parent`, which forked it, dies."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that none can outlive its run unseen."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_orphans(known: Container[int]) -> None:
    """Kill and collect every child process that is not `known`: what a run started and left behind."""
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    with contextlib.suppress(OSError):
        for word in listing.read_text(encoding="ascii").split():
            if (pid := int(word)) not in known:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
