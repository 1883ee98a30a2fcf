"""The data folder and what is in it: readable by its owner alone."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

FOLDER: Final = 0o700
OUR_FOLDERS: Final = frozenset({"users", "variables", "providers"})
OUR_FILES: Final = frozenset({"token", "servers.json", "chat_history", "trusted-components.json"})
OUR_ENDINGS: Final = re.compile(r"\.(?:key|enc(?:\.bak)?|check|lock|(?:db|sqlite)(?:-wal|-shm)?(?:\.v0\.1\.bak)?)$")


class OthersMayWriteError(ValueError):
    """A file that decides what may run is not its reader's alone; `why` and `remedy` may be shown to anyone."""

    def __init__(self, why: str, remedy: str) -> None:
        self.why = why
        self.remedy = remedy
        super().__init__(f"{why}: {remedy}")


def read_unshared(path: Path, *, follow: bool = False) -> str:
    """The text of a file that decides what may run: of this user, and nobody else may write it.

    Args:
        path: the file.
        follow: whether it may be a link, and may belong to the system's administrator, as what an operator mounts.

    Raises:
        OthersMayWriteError: it belongs to another user, or others may write it.
        OSError: it cannot be read.
        UnicodeDecodeError: it is no text.
    """
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(os.open(path, flags), encoding="utf-8") as file:
        found = os.fstat(file.fileno())
        owners = {os.geteuid(), *((0,) if follow else ())} if os.name == "posix" else {found.st_uid}
        if found.st_uid not in owners:
            raise OthersMayWriteError("it belongs to another user", "remove it")
        if os.name == "posix" and found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise OthersMayWriteError("other users of this machine may write it", f"chmod 600 {path.name}")
        return file.read()


def private_data_folder(data: Path) -> None:
    """Create the data folder if it is missing, and close it to the other users of this machine.

    A folder that others share by design (one with the sticky bit, such as `/tmp`) stays as it is, and so does one that
    is someone else's.

    Args:
        data: the data folder.

    Raises:
        OSError: it cannot be created.
    """
    data.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    close_to_others(data)


def close_data_folder(data: Path) -> None:
    """Close everything of ours in the data folder to the other users of this machine: folders 0700, files 0600.

    What is not ours, by its name, stays as it is: someone may have chosen a folder that holds other things. It blocks.

    Args:
        data: the data folder; it may not exist yet.

    Raises:
        OSError: something cannot be changed.
    """
    if not data.is_dir():
        return
    close_to_others(data)
    for path in data.iterdir():
        if path.name in OUR_FOLDERS and path.is_dir() and not path.is_symlink():
            for inner in (path, *path.rglob("*")):
                close_to_others(inner)
        elif path.name in OUR_FILES or OUR_ENDINGS.search(path.name):
            close_to_others(path)


def close_to_others(path: Path) -> None:
    """Take away what others may do with a file or folder of this user; links and others' files stay as they are.

    Raises:
        OSError: it cannot be changed.
    """
    if os.name != "posix":
        return
    try:
        found = path.lstat()
    except FileNotFoundError:
        return  # such as what a database keeps beside its file, gone since the folder was listed
    shared = bool(found.st_mode & stat.S_ISVTX)
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or shared:
        return
    if found.st_mode & 0o077:
        path.chmod(stat.S_IMODE(found.st_mode) & FOLDER)
