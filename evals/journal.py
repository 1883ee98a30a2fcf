"""The journal: attempts as JSON lines, each written whole as soon as it is there, so that a play can be resumed."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from evals.attempt import Attempt, Key


class JournalError(ValueError):
    """A file of JSON lines that cannot be read; `line` counts from 1."""

    def __init__(self, name: str, line: int, message: str) -> None:
        super().__init__(f"{name} line {line}: {message}")
        self.name = name
        self.line = line


class Journal:
    """Writes attempts to the end of a file.

    Args:
        path: the file.
        anew: whether what it holds is dropped first. A last line that was cut off, by a crash, is dropped in any case.
    """

    def __init__(self, path: Path, *, anew: bool = False) -> None:
        self._path = path
        if anew or not path.exists():
            path.write_bytes(b"")
        else:
            _mend(path)

    def append(self, attempt: Attempt) -> None:
        """Write one attempt; when this returns it is on the disk."""
        with self._path.open("ab") as file:
            file.write(attempt.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def read_journal(path: Path) -> Iterator[Attempt]:
    """The attempts of a journal, in order. Shards of a play, one after the other in a file, are a journal.

    Raises:
        JournalError: at a line that is no attempt.
    """
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield Attempt.model_validate_json(line)
            except ValidationError as error:
                raise JournalError(path.name, number, f"no attempt ({error.error_count()} faults)") from None


def counting(attempts: Iterable[Attempt]) -> dict[Key, Attempt]:
    """The attempt that counts of each key: the last one, and one that was played before one that the harness failed."""
    found: dict[Key, Attempt] = {}
    for attempt in attempts:
        if attempt.harness_error is None or attempt.key not in found or found[attempt.key].harness_error is not None:
            found[attempt.key] = attempt
    return found


def _mend(path: Path) -> None:
    """Drop what follows the last line's end."""
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)
