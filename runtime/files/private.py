"""The data folder and what is in it: readable by its owner alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

FOLDER: Final = 0o700
FILE: Final = 0o600


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
