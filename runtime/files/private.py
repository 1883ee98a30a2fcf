"""The data folder and what is in it: readable by its owner alone."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

FOLDER: Final = 0o700
OUR_FOLDERS: Final = frozenset({"users", "variables"})
OUR_FILES: Final = frozenset({"token"})
OUR_ENDINGS: Final = re.compile(r"\.(?:key|enc|check|lock|(?:db|sqlite)(?:-wal|-shm)?(?:\.v0\.1\.bak)?)$")


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
    found = path.lstat()
    shared = bool(found.st_mode & stat.S_ISVTX)
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or shared:
        return
    if found.st_mode & 0o077:
        path.chmod(stat.S_IMODE(found.st_mode) & FOLDER)
