"""Reads text files that a user names, within limits, and writes such files completely or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from runtime.files.atomic import write_atomically

TEXT_LIMIT: Final = 32 * 1024 * 1024
"""Bytes of one text, or of one line of a file that is read line by line."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class TextRefused(ValueError):
    """A text cannot be read.

    Attributes:
        code: `unreadable` or `too_large`.
        reason: what is wrong, to follow the file's name.
        fix: what to do about it.
    """

    def __init__(self, reason: str, fix: str, *, code: str = "unreadable") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.fix = fix


def read_text(path: Path, limit: int = TEXT_LIMIT) -> str:
    """The text of a file, without a byte order mark.

    Args:
        path: the file; a pipe is read to its end.
        limit: how many bytes it may have.

    Raises:
        TextRefused: it cannot be read, is too large, or is not text.
    """
    try:
        with path.open("rb") as file:
            return text_of(file, limit)
    except (OSError, ValueError) as failure:
        raise failure if isinstance(failure, TextRefused) else unreadable(failure) from None


def check_file(path: Path) -> None:
    """Refuse what is not a file that can be read.

    Raises:
        TextRefused: it does not exist, is something else, or may not be read.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise TextRefused("is not a file", "Name a file.")
        with path.open("rb"):
            pass
    except (OSError, ValueError) as failure:
        raise failure if isinstance(failure, TextRefused) else unreadable(failure) from None


def text_of(stream: BinaryIO, limit: int = TEXT_LIMIT) -> str:
    """The text that remains in a stream, without a byte order mark.

    Raises:
        TextRefused: it is too large, or is not text.
        OSError: it cannot be read.
    """
    content = stream.read(limit + 1)
    if len(content) > limit:
        raise too_large(limit)
    return decoded(content)


def decoded(content: bytes) -> str:
    """Bytes as text, without a byte order mark.

    Raises:
        TextRefused: they are not UTF-8, or hold a NUL, which no text has.
    """
    nul = content.find(b"\0")
    if nul >= 0:
        raise TextRefused(f"is not text (byte {nul} is NUL)", "Name a text file, saved as UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TextRefused(f"is not UTF-8 text (byte {error.start})", "Save it as UTF-8.") from None


def unreadable(failure: OSError | ValueError) -> TextRefused:
    """Why a file could not be opened or read."""
    match failure:
        case FileNotFoundError():
            return TextRefused("does not exist", "Name an existing file.")
        case IsADirectoryError():
            return TextRefused("is a directory", "Name a file.")
        case _:
            return TextRefused("cannot be read", "Check its name and that you may read it.")


def too_large(limit: int) -> TextRefused:
    """What is said of a text with more bytes than the limit."""
    shown = f"{limit // (1024 * 1024)} MB" if limit >= 1024 * 1024 else f"{limit:,} bytes"
    return TextRefused(f"has more than {shown}", "Name a smaller file.", code="too_large")


def write_file(path: Path, content: bytes, *, replace: bool = True) -> None:
    """Write a file that a user named: readers see the old content or the new, also after an interruption.

    A link is followed, and a file that is replaced keeps its permissions. Devices and pipes are written directly, as is
    a file that may be written in a folder that may not.

    Args:
        path: the file.
        content: the whole content.
        replace: whether there may be such a file already.

    Raises:
        FileExistsError: there is one, and it may not be replaced.
        OSError: it cannot be written; an existing file is unchanged.
    """
    target = Path(os.path.realpath(path))
    found = target.stat() if target.exists() else None
    if found is not None and not replace:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    if found is not None and not stat.S_ISREG(found.st_mode):
        target.write_bytes(content)
        return
    if found is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if found is not None and not os.access(target.parent, os.W_OK):
        target.write_bytes(content)
        return
    permissions = None if found is None else stat.S_IMODE(found.st_mode)
    if not write_atomically(target, content, overwrite=replace, permissions=permissions):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def is_full(failure: OSError) -> bool:
    """Whether there is no room for what was to be written."""
    return failure.errno in _FULL
