"""What the data folder holds beside the database: files, components, keys and the tokens of the installation."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from runtime.database.secrets.files import BACKUP, FIRST_PROVIDERS
from runtime.files.folders import USERS
from runtime.files.names import TEMPORARY_PREFIX
from runtime.files.undo import UNDO

FOLDERS: Final = ("users", "variables", "providers")
FILES: Final = (
    *("token", "users.key", "secret.key", "secret.check", "providers.key", "variables.key", "providers.enc"),
    *("trusted-components.json", "chat_history", "servers.json"),
)
"""Everything of ours that is not the database, and cannot be made anew. Locks, logs and the cache are left out."""

_LOCK: Final = ".lock"


def contents(data: Path) -> Iterator[tuple[str, Path]]:
    """The files of the data folder, by their paths in it; links are left out.

    Args:
        data: the data folder.
    """
    for name in FILES:
        if (path := data / name).is_file() and not path.is_symlink():
            yield name, path
    for name in FOLDERS:
        for found, path in within(data / name, name):
            if name == USERS or not found.endswith(BACKUP):
                yield found, path


def within(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """The files of a folder and its folders, by their paths with another name for the folder."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name.startswith(TEMPORARY_PREFIX) or path.suffix == _LOCK:
            continue
        if path.is_dir():
            yield from within(path, f"{name}/{path.name}")
        elif path.is_file():
            yield f"{name}/{path.name}", path


def is_ours(name: str) -> bool:
    """Whether a path of an archive is one that `contents` gives."""
    parts = PurePosixPath(name).parts
    if not parts or "/".join(parts) != name or ".." in parts or parts[0] == "/" or "\\" in name or "\0" in name:
        return False
    return name in FILES if len(parts) == 1 else parts[0] in FOLDERS


def remove_all(data: Path) -> None:
    """Remove everything that `contents` gives, what was taken over from it, and what could be undone of it."""
    for name in (*FILES, f"{FIRST_PROVIDERS}{BACKUP}"):
        (data / name).unlink(missing_ok=True)
    for name in (*FOLDERS, UNDO):
        path = data / name
        path.unlink() if path.is_symlink() else shutil.rmtree(path, ignore_errors=True)
