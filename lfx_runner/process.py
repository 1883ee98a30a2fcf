"""A forked process as the runner sees it: its ties, and what it takes to collect it and to clear up after it."""

import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lfx_runner.event_pipe import EventPipe


@dataclass
class Child:
    """One forked process and the descriptors that tie it to the runner."""

    pid: int
    request: int
    go: int
    results: int
    events: EventPipe
    folder: Path
    ahead: bool
    """Whether it closes the ports before it is asked to run, which takes long."""
    run: str | None = None
    started: float = 0.0
    deadline: float = float("inf")
    received: bytearray = field(default_factory=bytearray)
    mute: bool = False
    """Whether it closed the pipe that its result would come through."""


def peak_of(used: Any) -> float:
    """The most memory that a collected process had, in MB."""
    if used is None:
        return 0.0
    return round(used.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def unlock(remove: Callable[[str], Any], path: str, _: object) -> None:
    """A run may have taken away permissions: give them back and try once more."""
    with contextlib.suppress(OSError):
        os.chmod(Path(path).parent, 0o700)  # noqa: PTH101 - rmtree speaks in plain paths
        os.chmod(path, 0o700)  # noqa: PTH101 - likewise
        remove(path)
