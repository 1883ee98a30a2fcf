"""Files as they were before a step changed them, so that a step whose process died begins again from the same files."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import count
from pathlib import Path
from typing import Final

from flows.json_values import as_object
from runtime.files.atomic import read_regular, write_atomically
from runtime.files.folders import folder_name, private_folder

UNDO: Final = "undo"
"""The folder inside the data folder with files as they were before the steps that go on."""

_FOLDER: ContextVar[Path | None] = ContextVar("undo_folder", default=None)

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of a file that are kept; one that is larger stays as the step has left it."""


def undo_folder(data: Path, user: str) -> Path:
    """Where a user's files are kept as they were; it need not exist. It may block.

    Args:
        data: the data folder.
        user: the user's id.
    """
    return data / UNDO / folder_name(data, user)


@contextmanager
def undoable(folder: Path) -> Generator[None]:
    """Keep what the block changes of users' files as it was.

    Args:
        folder: where it is kept.
    """
    token = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(token)


def keep_for_undo(path: Path, new: bytes | None) -> None:
    """Keep a file as it is, if what changes it can be undone. Blocks.

    Args:
        path: the file, which need not exist.
        new: what it is going to hold; None when it is deleted.
    """
    folder = _FOLDER.get()
    if folder is None:
        return
    old = _content(path)
    if old is not None and len(old) > LARGEST:
        return
    kept = {
        "path": str(path),
        "old": None if old is None else base64.b64encode(old).decode(),
        "new": None if new is None else hashlib.sha256(new).hexdigest(),
    }
    private_folder(folder)
    name = next(name for number in count(1) if not (name := folder / f"{number:04}.json").exists())
    write_atomically(name, json.dumps(kept).encode())


def undo(folder: Path) -> int:
    """Restore the files that are kept in a folder, and empty it; returns how many were restored. Blocks.

    What somebody else has changed since stays as it is.
    """
    restored = 0
    for name in sorted(folder.glob("*.json"), reverse=True):
        kept = as_object(json.loads(name.read_bytes()))
        path, old, now = Path(str(kept["path"])), kept["old"], _content(Path(str(kept["path"])))
        if (None if now is None else hashlib.sha256(now).hexdigest()) != kept["new"]:
            continue
        restored += 1
        if old is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(path, base64.b64decode(str(old)))
    forget(folder)
    return restored


def forget(folder: Path) -> None:
    """Forget what is kept. Blocks."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def _content(path: Path) -> bytes | None:
    try:
        return read_regular(path, LARGEST + 1)
    except OSError:
        return None
