"""A user's files: read, written and listed inside one folder, without following links.

Every name in a path is opened relative to the folder before it and without following links, so that a checked path
cannot lead elsewhere by the time it is used. The calls block: make them in a thread.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from runtime.files import upload as uploads
from runtime.files.atomic import NO_FOLLOW, READ, write_atomically
from runtime.files.folders import UserFolderError, holds_only, user_folder
from runtime.files.names import (
    RESERVED_SEGMENTS,
    TEMPORARY_PREFIX,
    DiskRefuses,
    FileExists,
    FileMissing,
    FileRefused,
    is_reserved,
    segments,
)
from runtime.files.texts import is_full
from runtime.files.undo import keep_for_undo
from runtime.files.upload import FileLimits, FilesFull, Upload, too_large

SIZE_LIMIT: Final = 10 * 1024 * 1024
"""Bytes of one text file."""

TOTAL_LIMIT: Final = 100 * 1024 * 1024
"""Bytes of all files of a user."""

COUNT_LIMIT: Final = 2_000
"""Files and folders of a user."""

STALE_SECONDS: Final = 3600.0
"""Seconds after which an unfinished file is deleted."""

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | NO_FOLLOW


@dataclass(frozen=True, kw_only=True)
class Written:
    """A file after it was written.

    Attributes:
        path: with forward slashes.
        size: in bytes.
        new: whether it did not exist before.
    """

    path: str
    size: int
    new: bool


class UserFiles:
    """The files of one user. Every method may raise `FileRefused`.

    Args:
        data: the data folder.
        user: the owner of the files.
        limits: how much they may hold; None for the usual limits.
    """

    def __init__(self, data: Path, user: str | None, limits: FileLimits | None = None) -> None:
        self._data = data
        self._user = user
        self.limits = limits or FileLimits(file_bytes=uploads.UPLOAD_LIMIT, total_bytes=TOTAL_LIMIT, files=COUNT_LIMIT)

    def read(self, path: str) -> str:
        """The text of a file, with its line ends."""
        names = _file(path)
        with self._root() as root, _parent(root, names, create=False) as folder:
            return _text(_bytes(folder, names), path)

    def write(self, path: str, content: str) -> Written:
        """Write text to a file, creating it and its folders if they are missing."""
        return self._write(_file(path), _encoded(content))

    def write_bytes(self, path: str, content: bytes) -> Written:
        """Write a file of any kind, creating it and its folders if they are missing."""
        names = _file(path)
        if len(content) > self.limits.file_bytes:
            raise too_large("/".join(names), self.limits.file_bytes)
        return self._write(names, content)

    def _write(self, names: tuple[str, ...], body: bytes) -> Written:
        with self._root(writing=True) as root, _parent(root, names, create=True) as folder:
            before = _regular(folder, names)
            self._check_quota(root, len(body) - (before or 0), new=before is None)
            self._keep(names, body)
            with _failures(names[-1]):
                write_atomically(names[-1], body, folder=folder)
        return Written(path="/".join(names), size=len(body), new=before is None)

    def read_bytes(self, path: str) -> bytes:
        """The content of a file of any kind."""
        with self.opened(path) as file:
            return file.read()

    @contextmanager
    def opened(self, path: str) -> Generator[BinaryIO]:
        """Open a file of any kind for reading; what it holds then stays readable, also after it was replaced."""
        names = _file(path)
        with self._root() as root, _parent(root, names, create=False) as folder:
            file = _open(folder, names, max(uploads.UPLOAD_LIMIT, self.limits.file_bytes))
        with file:
            yield file

    @contextmanager
    def receive(self, path: str, *, overwrite: bool = True) -> Generator[Upload]:
        """Write a file piece by piece; it is in its place when the block ends, and gone when the block raises.

        Args:
            path: the file, created with its folders if they are missing.
            overwrite: whether an existing file is replaced; otherwise that is refused.
        """
        names = _file(path)
        with self._root() as root:
            _remove_stale(root)
            with _failures(names[-1]):
                upload = Upload(root, "/".join(names), self.limits.file_bytes)
            try:
                yield upload
                upload.complete()
                with self._locked(root), _parent(root, names, create=True) as folder:
                    before = _regular(folder, names)
                    if before is not None and not overwrite:
                        raise FileExists(f"There is a file {'/'.join(names)} already.")
                    self._check_quota(root, upload.size - (before or 0), new=before is None)
                    with _failures(names[-1]):
                        os.replace(upload.temporary, names[-1], src_dir_fd=root, dst_dir_fd=folder)
                    upload.new = before is None
            finally:
                upload.discard()

    def remove(self, path: str) -> int:
        """Delete a file, and the folders that are empty then; returns its size in bytes."""
        names = _file(path)
        with self._root(writing=True) as root:
            with _parent(root, names, create=False) as folder:
                size = _regular(folder, names)
                if size is None:
                    raise FileMissing(f"There is no {'/'.join(names)}.")
                self._keep(names, None)
                with _failures("/".join(names)):
                    os.unlink(names[-1], dir_fd=folder)
            for depth in range(len(names) - 1, 0, -1):
                with _parent(root, names[:depth], create=False) as folder, contextlib.suppress(OSError):
                    os.rmdir(names[depth - 1], dir_fd=folder)
        return size

    def edit(self, path: str, old: str, new: str, *, every: bool = False) -> tuple[Written, str]:
        """Replace text inside a file; returns what was written.

        Args:
            path: the file.
            old: the text to replace, which must occur, and only once unless `every`.
            new: the text that replaces it.
            every: replace all occurrences.
        """
        names = _file(path)
        with self._root(writing=True) as root, _parent(root, names, create=False) as folder:
            before = _bytes(folder, names)
            text = _text(before, path)
            count = text.count(old) if old else 0
            if not count:
                raise FileRefused("old_string does not occur in the file. Read the file and copy the text exactly.")
            if count > 1 and not every:
                raise FileRefused(f"old_string occurs {count} times. Make it longer, or set replace_all.")
            content = text.replace(old, new)
            body = _encoded(content)
            self._check_quota(root, len(body) - len(before), new=False)
            self._keep(names, body)
            with _failures(names[-1]):
                write_atomically(names[-1], body, folder=folder)
        return Written(path="/".join(names), size=len(body), new=False), content

    @property
    def is_known_empty(self) -> bool:
        """Whether there is no file, where that is seen without a thread."""
        return holds_only(self._data, self._user, *RESERVED_SEGMENTS)

    def listing(self, path: str = "") -> list[tuple[str, int]]:
        """Every file below a folder with its size, by path; reserved names and links are left out."""
        with self._root() as root:
            return sorted(_below(root, segments(path)))

    @contextmanager
    def _root(self, *, writing: bool = False) -> Generator[int]:
        """Open the user's folder; only one caller at a time may write."""
        if os.open not in os.supports_dir_fd:
            raise FileRefused("This system cannot store files safely.")
        try:
            folder = user_folder(self._data, self._user)
        except UserFolderError as refused:
            raise FileRefused(refused.message) from None
        with _failures("your folder"):
            root = os.open(folder, _FOLDER)
        try:
            if writing:
                _lock(root)
            yield root
        finally:
            os.close(root)

    @contextmanager
    def _locked(self, root: int) -> Generator[None]:
        """Let only one caller at a time write, until the block ends."""
        with _failures("your folder"):
            again = os.open(".", _FOLDER, dir_fd=root)
        try:
            _lock(again)
            yield
        finally:
            os.close(again)

    def _keep(self, names: tuple[str, ...], new: bytes | None) -> None:
        """Keep a file as it is, if its change can be undone."""
        with _failures(names[-1]):
            keep_for_undo(user_folder(self._data, self._user).joinpath(*names), new)

    def _check_quota(self, root: int, growth: int, *, new: bool) -> None:
        """Refuse more files or bytes than a user may have."""
        if growth <= 0 and not new:
            return
        count = size = 0
        for _, bytes_ in _below(root, ()):
            count, size = count + 1, size + bytes_
        if new and count >= self.limits.files:
            raise FilesFull(f"There are {count} files already, which is the limit.")
        total = self.limits.total_bytes
        if size + growth > total:
            shown = f"{total // 1024 // 1024} MB" if total >= 1024 * 1024 else f"{total:,} bytes"
            raise FilesFull(f"The files would have more than {shown} together.")


def _file(path: str) -> tuple[str, ...]:
    names = segments(path)
    if not names or path.rstrip().endswith(("/", "\\")):
        raise FileRefused("Name a file, such as notes.md.")
    return names


def _encoded(content: str) -> bytes:
    try:
        body = content.encode()
    except UnicodeEncodeError:
        raise FileRefused("The text contains an unpaired surrogate.") from None
    if len(body) > SIZE_LIMIT:
        raise FileRefused(f"The file would have {len(body):,} bytes; it may have {SIZE_LIMIT:,}.")
    return body


def _text(body: bytes, path: str) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise FileRefused(f"{path} is not a text file.") from None


@contextmanager
def _parent(root: int, names: tuple[str, ...], *, create: bool) -> Generator[int]:
    """Open the folder of the last name, step by step from the root."""
    folder = os.dup(root)
    try:
        for index, name in enumerate(names[:-1]):
            place = "/".join(names[: index + 1])
            with _failures(place, missing=place if create else "/".join(names)):
                if create:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, 0o700, dir_fd=folder)
                below = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _regular(folder: int, names: tuple[str, ...]) -> int | None:
    """The size of a file, or None if it does not exist.

    Raises:
        FileRefused: it is a link, a folder or a special file.
    """
    with _failures("/".join(names)):
        try:
            found = os.stat(names[-1], dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
    _check_kind(found, names)
    return found.st_size


def _check_kind(found: os.stat_result, names: tuple[str, ...]) -> None:
    path = "/".join(names)
    if stat.S_ISDIR(found.st_mode):
        raise FileRefused(f"{path} is a folder.")
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise FileRefused(f"{path} is a link or a special file, which is not followed.")


def _bytes(folder: int, names: tuple[str, ...]) -> bytes:
    with _open(folder, names, SIZE_LIMIT) as file:
        return file.read(SIZE_LIMIT)


def _open(folder: int, names: tuple[str, ...], limit: int) -> BinaryIO:
    """Open a regular file of at most `limit` bytes."""
    with _failures("/".join(names)):
        file = os.fdopen(os.open(names[-1], READ, dir_fd=folder), "rb")
    try:
        found = os.fstat(file.fileno())
        _check_kind(found, names)
        if found.st_size > limit:
            raise FileRefused(f"{'/'.join(names)} has more than {limit:,} bytes.")
    except BaseException:
        file.close()
        raise
    return file


def _remove_stale(root: int) -> None:
    """Delete unfinished files that a process left behind when it was killed."""
    with contextlib.suppress(OSError):
        for name in os.listdir(root):
            if name.startswith(TEMPORARY_PREFIX) and time.time() - os.lstat(name, dir_fd=root).st_mtime > STALE_SECONDS:
                os.unlink(name, dir_fd=root)


def _below(root: int, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """The files below a folder: path and size."""
    with _parent(root, (*names, ""), create=False) as start:
        for folder, folders, files, descriptor in os.fwalk(".", dir_fd=start, follow_symlinks=False):
            folders[:] = [name for name in folders if is_reserved(name) is None]
            inside = (*names, *(part for part in folder.split("/") if part != "."))
            for name in files:
                if is_reserved(name) is not None:
                    continue
                with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
                    found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                        yield "/".join((*inside, name)), found.st_size


def _lock(root: int) -> None:
    """Wait until no other call writes to the folder; the lock ends with the descriptor."""
    try:
        import fcntl
    except ImportError:  # such a system has no openat either, so this is never reached
        return
    fcntl.flock(root, fcntl.LOCK_EX)


@contextmanager
def _failures(place: str, missing: str = "") -> Generator[None]:
    """Turn system errors into messages without a local path.

    Args:
        place: the file or folder that is touched.
        missing: what is missing when the place is; the place itself by default.
    """
    try:
        yield
    except FileNotFoundError:
        raise FileMissing(f"There is no {missing or place}.") from None
    except (NotADirectoryError, IsADirectoryError):
        raise FileRefused(f"{place} is a link, or has the wrong type.") from None
    except OSError as failure:
        if failure.errno == errno.ELOOP:
            raise FileRefused(f"{place} is a link, which is not followed.") from None
        if is_full(failure):
            raise DiskRefuses(place, full=True) from None
        raise FileRefused(f"{place} cannot be used: {os.strerror(failure.errno or errno.EIO)}.") from None
