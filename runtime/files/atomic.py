"""Reads and writes files without following links; a file is written completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from runtime.files.names import TEMPORARY_PREFIX

NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | NO_FOLLOW
OWNER_ONLY: Final = 0o600
CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW


def write_atomically(
    path: Path | str,
    content: bytes,
    *,
    folder: int | None = None,
    overwrite: bool = True,
    permissions: int | None = OWNER_ONLY,
) -> bool:
    """Write a file; readers see the old content or the new, also after a crash. Every file is written by this.

    It blocks: call it in a thread.

    Args:
        path: the file; a link at this path is replaced, not followed.
        content: the whole content.
        folder: an open directory that `path` is relative to.
        overwrite: whether an existing file is replaced; otherwise the first of several writers wins.
        permissions: those of the file; None for what the process gives to new files.

    Returns:
        Whether this content was written, and not that of another writer.

    Raises:
        OSError: it cannot be written; an existing file is unchanged.
    """
    target = os.fspath(path)
    temporary = os.path.join(os.path.dirname(target), f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}")  # noqa: PTH118, PTH120 - may be relative to `folder`
    try:
        mode = 0o666 if permissions is None else OWNER_ONLY
        with os.fdopen(os.open(temporary, CREATE, mode, dir_fd=folder), "wb") as file:
            if permissions not in (None, OWNER_ONLY):
                os.chmod(temporary, permissions, dir_fd=folder)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            os.replace(temporary, target, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            try:
                os.link(temporary, target, src_dir_fd=folder, dst_dir_fd=folder)
            except FileExistsError:
                return False
        return True
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)


def read_regular(path: Path, limit: int) -> bytes:
    """Read up to `limit` bytes of a file.

    Raises:
        OSError: it does not exist, or is a link or a special file.
    """
    with os.fdopen(os.open(path, READ), "rb") as file:
        if path.is_symlink() or not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.ELOOP, "not a regular file")
        return file.read(limit)
