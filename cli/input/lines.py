"""Lines that are piped into a command which answers each with one."""

import sys
from collections.abc import Iterator

from cli.errors import CommandError
from runtime.files.texts import TEXT_LIMIT, too_large


def typed_lines(limit: int = TEXT_LIMIT) -> Iterator[str | CommandError]:
    """The lines of standard input without their ends, each as soon as it arrives.

    Args:
        limit: how many bytes a line may have.

    Yields:
        The text of a line, or why it cannot be read; the lines after it are.
    """
    stream, number = sys.stdin.buffer, 0
    while line := stream.readline(limit + 1):
        number += 1
        where = f"line {number}"
        if len(line) > limit and not line.endswith(b"\n"):
            _skip(limit)
            message = f"The line {too_large(limit).reason}."
            yield CommandError("too_large", message, fix="Send a shorter one.", where=where)
            continue
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            yield CommandError("unreadable", "The line is not UTF-8 text.", fix="Send UTF-8.", where=where)


def _skip(limit: int) -> None:
    """Read to the end of the line."""
    while (part := sys.stdin.buffer.readline(limit)) and not part.endswith(b"\n"):
        pass
