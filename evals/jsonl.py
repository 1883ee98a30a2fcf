"""Files of JSON lines: attempts, verdicts, fixes, opinions."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

Line = TypeVar("Line", bound=BaseModel)


class JsonLinesError(ValueError):
    """A line that cannot be read; `line` counts from 1."""

    def __init__(self, name: str, line: int, message: str) -> None:
        super().__init__(f"{name} line {line}: {message}")
        self.name = name
        self.line = line


class JsonLines(Generic[Line]):
    """A file with one model a line."""

    def __init__(self, path: Path, model: type[Line]) -> None:
        self._path = path
        self._model = model

    def read(self) -> Iterator[Line]:
        """The lines in order.

        Raises:
            JsonLinesError: at a line that does not fit the model.
        """
        with self._path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield self._model.model_validate_json(line)
                except ValidationError as error:
                    faults = f"not a valid {self._model.__name__.lower()} ({error.error_count()} faults)"
                    raise JsonLinesError(self._path.name, number, faults) from None

    def write(self, lines: Iterable[Line]) -> None:
        """Replace the file's content."""
        self._path.write_text("".join(f"{line.model_dump_json()}\n" for line in lines), encoding="utf-8")

    def append(self, line: Line) -> None:
        """Add one line and sync it to the disk."""
        with self._path.open("ab") as file:
            file.write(line.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def drop_incomplete_line(self) -> None:
        """Remove an incomplete last line, as after a crash."""
        content = self._path.read_bytes()
        if content and not content.endswith(b"\n"):
            with self._path.open("r+b") as file:
                file.truncate(content.rfind(b"\n") + 1)
