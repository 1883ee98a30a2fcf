"""Searches a user's files by path patterns and by their lines."""

from __future__ import annotations

import fnmatch
import functools
import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from runtime.files.names import FileRefused, segments
from runtime.files.store import UserFiles

if TYPE_CHECKING:
    import regex

PATTERN_LIMIT: Final = 200
"""Characters of a pattern."""

SEARCH_SECONDS: Final = 2.0
"""How long matching may take in all, because some patterns never end."""

READ_LIMIT: Final = 20 * 1024 * 1024
"""Bytes that one search reads."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line that matched.

    Attributes:
        path: the file.
        number: counted from 1.
        text: the whole line.
    """

    path: str
    number: int
    text: str


def glob_files(files: UserFiles, pattern: str, path: str = "") -> list[tuple[str, int]]:
    """The files below a folder whose path matches, with their sizes.

    Args:
        files: the user's files.
        pattern: `*` and `?` match within a name, `**` matches any number of folders; without a slash the pattern
            is matched with the names of files in any folder.
        path: the folder to search.

    Raises:
        FileRefused: the pattern or the path leaves the folder or is reserved.
    """
    parts = _segments(pattern)
    start = segments(path)
    listed = files.listing(path)
    return [(found, size) for found, size in listed if _matches(tuple(found.split("/"))[len(start) :], parts)]


def grep_lines(files: UserFiles, pattern: str, path: str = "", include: str = "*", limit: int = 100) -> list[Line]:
    """The lines that match a regular expression, in the order of the files.

    Args:
        files: the user's files.
        pattern: a regular expression; case is ignored.
        path: the folder or the file to search.
        include: only in files whose path matches this glob.
        limit: how many lines at most.

    Raises:
        FileRefused: the pattern is malformed or takes too long, or a path is refused.
    """
    expression = _expression(pattern)
    deadline = time.monotonic() + SEARCH_SECONDS
    lines: list[Line] = []
    read = 0
    for found, size in _within(files, path, include):
        read += size
        if read > READ_LIMIT:
            break
        try:
            text = files.read(found)
        except FileRefused:  # not text, or removed meanwhile
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if _found(expression, line, deadline):
                lines.append(Line(path=found, number=number, text=line))
                if len(lines) == limit:
                    return lines
    return lines


def _within(files: UserFiles, path: str, include: str) -> list[tuple[str, int]]:
    names = segments(path)
    if not names:
        return glob_files(files, include)
    one = "/".join(names)
    whole = [(found, size) for found, size in files.listing("/".join(names[:-1])) if found == one]
    return whole or glob_files(files, include, path)


def _expression(pattern: str) -> regex.Pattern[str]:
    import regex  # of no use to most processes, and slow to import

    _check_length(pattern)
    try:
        return regex.compile(pattern, regex.IGNORECASE)
    except regex.error:
        raise FileRefused(
            "The pattern is not a regular expression. Escape ( ) [ ] { } . * + ? with a backslash."
        ) from None


def _found(expression: regex.Pattern[str], line: str, deadline: float) -> bool:
    try:
        remaining = max(deadline - time.monotonic(), 0.001)
        return expression.search(line, timeout=remaining, concurrent=True) is not None
    except TimeoutError:
        raise FileRefused("The search takes too long. Use a simpler pattern.") from None


def _segments(pattern: str) -> tuple[str, ...]:
    _check_length(pattern)
    names = tuple(name for name in pattern.replace("\\", "/").split("/") if name not in ("", "."))
    if pattern.startswith(("/", "\\")) or not names:
        raise FileRefused("The pattern must be relative to your folder, such as *.md or docs/**/*.txt.")
    for name in names:
        segments("".join(char for char in name if char not in '*?[]<>:"|') or "x")
    return ("**", *names) if len(names) == 1 else names


def _check_length(pattern: str) -> None:
    if not pattern or len(pattern) > PATTERN_LIMIT:
        raise FileRefused(f"The pattern must have between 1 and {PATTERN_LIMIT} characters.")


def _matches(names: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    @functools.cache
    def match(name: int, want: int) -> bool:
        if want == len(pattern):
            return name == len(names)
        if pattern[want] == "**":
            return match(name, want + 1) or (name < len(names) and match(name + 1, want))
        return name < len(names) and fnmatch.fnmatchcase(names[name], pattern[want]) and match(name + 1, want + 1)

    return match(0, 0)


def files_about(files: UserFiles, named: Collection[str], text: str) -> tuple[tuple[str, int], ...]:
    """The files that a message is about, with their sizes: those attached to it, then those whose names it says.

    Args:
        files: the user's files.
        named: the paths of the attached files.
        text: the message.
    """
    try:
        listed = files.listing()
    except FileRefused:
        return ()
    said = text.casefold()
    attached = [each for each in listed if each[0] in named]
    mentioned = [each for each in listed if each[0] not in named and _is_named(each[0].rpartition("/")[2], said)]
    return (*attached, *mentioned)


def _is_named(name: str, said: str) -> bool:
    return "." in name and re.search(rf"(?<![\w.-]){re.escape(name.casefold())}(?![\w-])", said) is not None
