"""A file that arrives piece by piece: written beside the others under a hidden name until it is complete."""

from __future__ import annotations

import contextlib
import os
import secrets
from dataclasses import dataclass
from typing import Final

from runtime.files.atomic import CREATE
from runtime.files.names import TEMPORARY_PREFIX, DiskRefuses, FileRefused
from runtime.files.texts import is_full

UPLOAD_LIMIT: Final = 32 * 1024 * 1024
"""Bytes of one file of any kind."""


class FileTooLarge(FileRefused):
    """A file has more bytes than one may have."""


class FilesFull(FileRefused):
    """The user has as many files, or as many bytes in them, as one may have."""


@dataclass(frozen=True, kw_only=True)
class FileLimits:
    """How much a user's files may hold.

    Attributes:
        file_bytes: bytes of one file.
        total_bytes: bytes of all files.
        files: how many files.
    """

    file_bytes: int
    total_bytes: int
    files: int


def too_large(path: str, limit: int) -> FileTooLarge:
    """The refusal of a file that has more bytes than one may have."""
    shown = f"{limit // 1024 // 1024} MB" if limit >= 1024 * 1024 else f"{limit:,} bytes"
    return FileTooLarge(f"{path} has more than {shown}, which is the limit for one file.")


class Upload:
    """An unfinished file; `UserFiles.receive` makes it and puts it into its place.

    Attributes:
        temporary: its hidden name.
        size: how many bytes were written so far.
        new: whether there was no such file before; known when it is complete.
    """

    def __init__(self, root: int, path: str, limit: int) -> None:
        """Create it in the open folder `root`, to become `path`, of at most `limit` bytes. Raises OSError."""
        self._root = root
        self._limit = limit
        self.path = path
        self.size = 0
        self.new = True
        self.temporary = f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
        self._file = os.fdopen(os.open(self.temporary, CREATE, 0o600, dir_fd=root), "wb")

    def write(self, piece: bytes) -> None:
        """Write the next piece.

        Raises:
            FileRefused: the file becomes too large, or the disk does not take it.
        """
        self.size += len(piece)
        if self.size > self._limit:
            raise too_large(self.path, self._limit)
        try:
            self._file.write(piece)
        except OSError as failure:
            raise DiskRefuses(self.path, full=is_full(failure)) from None

    def complete(self) -> None:
        """Write everything to the disk.

        Raises:
            FileRefused: the disk does not take it.
        """
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as failure:
            raise DiskRefuses(self.path, full=is_full(failure)) from None

    def discard(self) -> None:
        """Close it, and delete it unless it is in its place."""
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            os.unlink(self.temporary, dir_fd=self._root)
