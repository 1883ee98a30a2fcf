"""Rules for the paths of a user's files: they stay inside the folder and mean the same on every system."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from flows.fields.key_shapes import SHAPED

RESERVED_SEGMENTS: Final = (".lfsig", ".components")
"""The assistant's folders inside a user's folder; no path may lead there."""

TEMPORARY_PREFIX: Final = ".wirewright-"
"""Prefix of the names of unfinished files."""

PATH_LIMIT: Final = 240
"""Characters of a path."""

SEGMENT_LIMIT: Final = 200
"""Bytes of one name, so that a temporary name fits, too."""

DEPTH_LIMIT: Final = 12
"""Names in a path."""

_FORBIDDEN = frozenset('<>:"|?*')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9¹²³])", re.IGNORECASE)
_SHORT_NAME = re.compile(r"~[0-9]")


class FileRefused(Exception):
    """A file operation was refused; the message is for the model and the user, and contains no local path.

    Args:
        message: what is wrong, and what to do instead.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class DiskRefuses(FileRefused):
    """The disk does not take a file now; an existing one is unchanged."""

    def __init__(self, path: str, *, full: bool) -> None:
        why = "there is no room on the disk" if full else "the disk refused it"
        super().__init__(f"{path} cannot be written: {why}.")


class FileMissing(FileRefused):
    """There is no such file."""


class FileExists(FileRefused):
    """There is such a file already, and it may not be replaced."""


def segments(path: str) -> tuple[str, ...]:
    """The names in a path, each checked; empty for the folder itself.

    Both kinds of slash separate names, as on Windows.

    Raises:
        FileRefused: the path leaves the folder, is reserved, or has a name that some system does not support.
    """
    if len(path) > PATH_LIMIT:
        raise FileRefused(f"The path has {len(path)} characters; it may have {PATH_LIMIT}.")
    if path.startswith(("/", "\\", "~")):
        raise FileRefused("The path must be relative to your folder, such as notes/todo.md.")
    composed = unicodedata.normalize("NFC", path.strip())  # as most write it; two forms would look like one file
    names = tuple(name for name in re.split(r"[/\\]", composed) if name not in ("", "."))
    if len(names) > DEPTH_LIMIT:
        raise FileRefused(f"The path is {len(names)} names deep; it may be {DEPTH_LIMIT}.")
    for name in names:
        _check_name(name)
    return names


def _check_name(name: str) -> None:
    if name == "..":
        raise FileRefused("The path must stay inside your folder: '..' is not allowed.")
    reserved = is_reserved(name)
    if reserved is not None:
        raise FileRefused(f"Path component '{reserved}' is reserved")
    if SHAPED.search(name):
        raise FileRefused("A name in the path looks like a key. Choose another name.")
    hidden = (at for at, char in enumerate(name) if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"})
    if any(not _joins(name, at) for at in hidden):
        raise FileRefused("A name in the path has an invisible character. Use plain letters.")
    if _FORBIDDEN & set(name):
        raise FileRefused(f"The name {name!r} has one of the characters {' '.join(sorted(_FORBIDDEN))}.")
    if name.endswith((".", " ")) or name.startswith(" "):
        raise FileRefused(f"The name {name!r} begins or ends with a space, or ends with a dot.")
    if _DEVICE.fullmatch(name.partition(".")[0].rstrip()):
        raise FileRefused(f"The name {name!r} is a device on Windows. Choose another.")
    if len(name.encode()) > SEGMENT_LIMIT:
        raise FileRefused(f"A name in the path has more than {SEGMENT_LIMIT} bytes.")


def _joins(name: str, at: int) -> bool:
    """Whether a character joins emoji into one, such as a family, or keeps letters of a Persian word apart."""
    before, after = name[at - 1 : at] or " ", name[at + 1 : at + 2] or " "
    if name[at] == "\u200d":
        is_emoji = before == "\ufe0f" or unicodedata.category(before) in {"So", "Sk"}
        return is_emoji and unicodedata.category(after) == "So"
    return name[at] == "\u200c" and unicodedata.bidirectional(before) == unicodedata.bidirectional(after) == "AL"


def is_reserved(name: str) -> str | None:
    """The reserved name that some file system takes this one for, or None.

    File systems ignore case, Unicode forms, invisible characters, trailing dots and spaces, and have short names.
    """
    plain = "".join(char for char in name if unicodedata.category(char) not in {"Cf", "Cc"})
    folded = unicodedata.normalize("NFKC", plain).casefold().rstrip(". ")
    folded = unicodedata.normalize("NFKC", folded).partition(":")[0]
    if folded.startswith(TEMPORARY_PREFIX):
        return TEMPORARY_PREFIX
    for reserved in RESERVED_SEGMENTS:
        short = reserved.lstrip(".")[:6]
        if folded == reserved or (_SHORT_NAME.search(folded) and folded.lstrip(".").startswith(short[:2])):
            return reserved
    return None
