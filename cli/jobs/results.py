"""The results of a batch: a file with a line of JSON for each input, which grows while the batch goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from cli.errors import BadUsage
from cli.output.files import write_text, writing

Line: TypeAlias = dict[str, Any]
"""What came of one input: its `position`, `state`, `result`, `error` and `attempts`."""


class ResultsFile:
    """A file for the results of a batch.

    Args:
        path: the file, which need not be there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, *, keyed: bool) -> list[Line]:
        """The lines that an earlier call has left; the last one may have been cut off.

        Args:
            keyed: whether they are of a batch on this machine, whose lines have a `key`.

        Raises:
            BadUsage: the file holds something else.
            CommandError: it cannot be read.
        """
        with writing(self.path):
            if not self.path.exists():
                return []
            text = self.path.read_text(encoding="utf-8", errors="replace")
        found = [line for line in _lines(text) if ("key" in line) is keyed]
        if not found and text:
            place = "on this machine" if keyed else "at a server"
            message = f"{self.path} is there, and holds no results of a batch {place}."
            raise BadUsage("not_results", message, fix="Name another file.", where="--out")
        return found

    def append(self, lines: Iterable[Line]) -> None:
        """Add lines, so that others can read them at once.

        Raises:
            CommandError: the file cannot be written.
        """
        with writing(self.path), self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(_text(lines))

    def write(self, lines: Iterable[Line]) -> None:
        """Write lines in the place of what is there, completely or not at all.

        Raises:
            CommandError: the file cannot be written.
        """
        write_text(self.path, _text(lines))


def _lines(text: str) -> Iterator[Line]:
    for line in text.split("\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value.keys() >= {"position", "state", "result"}:
            yield value


def _text(lines: Iterable[Line]) -> str:
    return "".join(f"{json.dumps(line, ensure_ascii=False, separators=(',', ':'))}\n" for line in lines)
