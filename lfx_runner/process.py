"""A forked process as the template sees it, and functions to clean up after it."""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Child:
    """One forked process: its process id, the client's number for it, and its private folder."""

    pid: int
    number: int
    folder: str

    def remove_folder(self) -> None:
        """Delete its private folder."""
        try:
            os.rmdir(self.folder)  # noqa: PTH106 - plain text is faster; empty where it was a file system of its own
        except OSError:
            shutil.rmtree(self.folder, onerror=unlock)


def peak_of(used: Any) -> float:
    """The peak memory of a reaped process, in MB."""
    return round(used.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def unlock(remove: Callable[[str], Any], path: str, _: object) -> None:
    """Restore permissions that a run may have removed, and try to delete again."""
    with contextlib.suppress(OSError):
        os.chmod(Path(path).parent, 0o700)  # noqa: PTH101 - rmtree passes plain paths
        os.chmod(path, 0o700)  # noqa: PTH101 - likewise
        remove(path)
