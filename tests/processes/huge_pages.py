"""Large pages for a process that forks often: a fork then copies one entry of its tables in place of five hundred.

Loaded by path, in environments of other interpreters too.
"""

import ctypes
import sys
from pathlib import Path

COLLAPSE = 25
"""Of `madvise`: put large pages in place of small ones, now; from Linux 6.1."""
SIZE = 2 << 20
"""Bytes of a large page."""


def collapse() -> None:
    """Give the memory that this process has now large pages, where the system has them.

    A fork that writes to one gets a copy of the small page alone.
    """
    if not sys.platform.startswith("linux"):
        return
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        span, rights, _, _, file, *name = line.split(maxsplit=5)
        start, end = (int(address, 16) for address in span.split("-"))
        start, end = -(-start // SIZE) * SIZE, end // SIZE * SIZE
        if file == "0" and rights == "rw-p" and name in ([], ["[heap]"]) and start < end:
            advise(start, end - start, COLLAPSE)  # what cannot be had is no failure
