"""The journal: attempts as JSON lines, each written whole as soon as it is there."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from evals.attempt import Attempt


class JournalError(ValueError):
    """A journal that cannot be read; `line` counts from 1."""

    def __init__(self, name: str, line: int, message: str) -> None:
        super().__init__(f"{name} line {line}: {message}")
        self.line = line


class Journal:
    """Writes attempts to a file, replacing what it held."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.write_text("", encoding="utf-8")

    def append(self, attempt: Attempt) -> None:
        """Write one attempt."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(attempt.model_dump_json() + "\n")


def read_journal(path: Path) -> Iterator[Attempt]:
    """The attempts of a journal, in order.

    Raises:
        JournalError: at a line that is no attempt.
    """
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield Attempt.model_validate_json(line)
            except ValidationError as error:
                raise JournalError(path.name, number, f"no attempt ({error.error_count()} faults)") from None
