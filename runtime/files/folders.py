"""Each user's folder, whose name does not reveal who the user is."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Final

from runtime.files.atomic import read_regular, write_atomically

USERS: Final = "users"
KEY_FILE: Final = "users.key"
KEY_BYTES: Final = 32
NAME_LENGTH: Final = 32
"""Hexadecimal characters of a user's folder name."""
LOCAL_USER: Final = "local"
"""The user of this machine, who needs no account and is not anonymous."""
KNOWN: Final = 4_096
"""How many users' folders a process remembers."""

_known: dict[tuple[Path, str], Path] = {}


class UserFolderError(ValueError):
    """A user has no folder; `message` and `fix` may be shown to anyone."""

    def __init__(self, message: str, fix: str) -> None:
        self.message = message
        self.fix = fix
        super().__init__(f"{message} {fix}")


class AnonymousUser(UserFolderError):
    """There is no user, and only users have folders."""

    def __init__(self) -> None:
        super().__init__("There is no user, so nothing can be stored.", "Repeat the request with a user id.")


def user_folder(data: Path, user: str | None) -> Path:
    """Return the folder of a user, created if it is missing; no other user of this machine may read it.

    Its name is the HMAC-SHA256 of the user's id with a secret that is stored beside the folders, so that names can
    neither be guessed nor traced back. It may block: call it in a thread.

    Args:
        data: the data folder (`flows.paths.data_folder`).
        user: the user's id, compared literally.

    Raises:
        AnonymousUser: `user` is None or blank.
        UserFolderError: a link or a file is in its place, or it cannot be created.
    """
    name = folder_name(data, user)
    folder = private_folder(private_folder(data / USERS) / name)
    if len(_known) >= KNOWN:
        _known.clear()
    _known[data, str(user)] = folder
    return folder


def holds_only(data: Path, user: str | None, *names: str, inside: str = "") -> bool:
    """Whether a user's folder has nothing but these names in it, where that is seen quicker than a thread is woken.

    It takes microseconds. A folder that this process has not used yet, or that is not there, may hold anything.

    Args:
        data: the data folder.
        user: the user's id.
        names: what else may be there.
        inside: a folder in it that is looked at instead.
    """
    folder = _known.get((data, str(user)))
    if folder is None:
        return False
    try:
        with os.scandir(folder / inside) as found:
            return all(one.name in names for one in found)
    except OSError:
        return False


def folder_name(data: Path, user: str | None) -> str:
    """The name of a user's folder. It may block: call it in a thread.

    Args:
        data: the data folder.
        user: the user's id, compared literally.

    Raises:
        AnonymousUser: `user` is None or blank.
        UserFolderError: the secret of the folders cannot be read.
    """
    if user is None or not user.strip():
        raise AnonymousUser
    return hmac.new(_key(data), user.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:NAME_LENGTH]


def private_folder(folder: Path) -> Path:
    """Return a folder that only its owner can read, created if it is missing; a link is not followed.

    Raises:
        UserFolderError: a link or a file is in its place, or it cannot be created.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if folder.is_symlink() or not folder.is_dir():
            message = f"{folder.name!r} exists but is not a folder."
            raise UserFolderError(message, "Remove the link or file of this name.")
    except OSError:
        raise UserFolderError("A user's folder cannot be created.", "Check the disk and its permissions.") from None
    return folder


def _key(data: Path) -> bytes:
    """The secret of this installation, created on first use; of two processes that create it, the first wins."""
    path = data / KEY_FILE
    try:
        if not path.exists() and not path.is_symlink():
            data.mkdir(parents=True, exist_ok=True)
            write_atomically(path, secrets.token_bytes(KEY_BYTES), overwrite=False)
        key = read_regular(path, KEY_BYTES + 1)
    except OSError:
        raise UserFolderError(
            "The secret of the users' folders cannot be read.", "Check the disk and its permissions."
        ) from None
    if len(key) != KEY_BYTES:
        raise UserFolderError("The secret of the users' folders is damaged.", f"Restore {KEY_FILE} from a backup.")
    return key
