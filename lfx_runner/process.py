"""A forked process as the runner sees it, and functions to clean up after it."""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lfx_runner.event_pipe import EventPipe
from lfx_runner.stores.files import given_folder


@dataclass
class Child:
    """One forked process and the descriptors that connect it to the runner."""

    pid: int
    request: int
    go: int
    results: int
    events: EventPipe
    folder: Path
    ports_closed: bool
    """Whether it closes the ports before it gets a request, because that takes long."""
    run: str | None = None
    started: float = 0.0
    deadline: float = float("inf")
    received: bytearray = field(default_factory=bytearray)
    results_closed: bool = False
    """Whether it closed the pipe for its result."""

    def remove_folders(self) -> None:
        """Delete its private folder and the files that it was given."""
        shutil.rmtree(self.folder, onerror=unlock)
        shutil.rmtree(given_folder(self.folder), ignore_errors=True)


def peak_of(used: Any) -> float:
    """The peak memory of a reaped process, in MB."""
    if used is None:
        return 0.0
    return round(used.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def unlock(remove: Callable[[str], Any], path: str, _: object) -> None:
    """Restore permissions that a run may have removed, and try to delete again."""
    with contextlib.suppress(OSError):
        os.chmod(Path(path).parent, 0o700)  # noqa: PTH101 - rmtree passes plain paths
        os.chmod(path, 0o700)  # noqa: PTH101 - likewise
        remove(path)
