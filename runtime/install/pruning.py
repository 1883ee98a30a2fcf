"""Deletes environments of the engine that are no longer needed: not chosen, not in use and not the previous one."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from flows.document import JsonObject
from flows.json_values import as_object
from runtime.files.lock import FileLock

STAMP = "installed.json"
"""Written when an environment is complete; states what it was created from."""
IN_USE = "in-use"
"""Locked by every engine that runs from the environment, for as long as it lives."""
_DIGEST = re.compile("[0-9a-f]{16}")
Wanted = Callable[[JsonObject], bool]


def stamp_of(folder: Path) -> JsonObject:
    """What an environment was created from; empty if it is incomplete."""
    try:
        return as_object(json.loads((folder / STAMP).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def mark_in_use(folder: Path) -> FileLock | None:
    """Mark an environment that is about to be used; None if that fails."""
    mark = FileLock(folder / IN_USE, shared=True)
    with contextlib.suppress(OSError):
        if folder.is_dir() and mark.try_acquire():
            os.utime(folder / IN_USE)
            return mark
    return None


def prune(environments: Path, current: str, wanted: Wanted, previous: str | None = None) -> list[str]:
    """Delete what is not needed and return the digests; what cannot be deleted is left for the next time.

    Args:
        environments: the folder that holds them, each in a folder named by its digest.
        current: the digest of the one that was just created or chosen; it stays, and so does the previous one.
        wanted: whether an installation still uses an environment with this stamp.
        previous: the previous one, if it is known; otherwise it is the last one used.
    """
    others = [folder for folder in environments.glob("*/") if _DIGEST.fullmatch(folder.name) and folder.name != current]
    if previous is None and others:
        previous = max(others, key=_last_used).name
    unwanted = [folder for folder in others if folder.name != previous and not wanted(stamp_of(folder))]
    return [folder.name for folder in unwanted if _delete(folder)]


def _delete(folder: Path) -> bool:
    """Delete an environment unless an engine runs from it or a process is creating it."""
    building, mark = FileLock(folder.with_suffix(".lock")), FileLock(folder / IN_USE)
    try:
        if not (building.try_acquire() and mark.try_acquire()):
            return False
        (folder / STAMP).unlink(missing_ok=True)  # from here on it is incomplete
        shutil.rmtree(folder)
    except OSError:
        return False
    finally:
        mark.release()
        building.release()
    return True


def _last_used(folder: Path) -> float:
    times: list[float] = []
    for name in (IN_USE, STAMP):
        with contextlib.suppress(OSError):
            times.append((folder / name).stat().st_mtime)
    return max(times, default=0.0)
