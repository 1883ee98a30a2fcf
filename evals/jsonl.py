"""Files of JSON lines: attempts, verdicts, fixes, opinions."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from runtime.files.texts import TEXT_LIMIT, too_large, write_file

CUT_OFF = "the file ends in the middle of this line, as after a crash; `eval run --resume` mends a journal"
"""What is wrong with a last line that was not written whole."""

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
            JsonLinesError: at a line that does not fit the model, or that is too long.
            OSError: the file cannot be read.
        """
        with self._path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(TEXT_LIMIT + 1), b""), start=1):
                if len(line) > TEXT_LIMIT:
                    raise JsonLinesError(self._path.name, number, too_large(TEXT_LIMIT).reason)
                yield self._line(line, number)

    def _line(self, line: bytes, number: int) -> Line:
        try:
            return self._model.model_validate_json(line)
        except ValidationError as error:
            newer = next((item["msg"] for item in error.errors() if item["loc"] == ("origin", "format")), None)
            if newer is not None:
                raise JsonLinesError(self._path.name, number, f"written by a later Wirewright: {newer}") from None
            if not line.endswith(b"\n") and {item["type"] for item in error.errors()} == {"json_invalid"}:
                raise JsonLinesError(self._path.name, number, CUT_OFF) from None
            count = error.error_count()
            faults = f"not a valid {self._model.__name__.lower()} ({count} {'fault' if count == 1 else 'faults'})"
            raise JsonLinesError(self._path.name, number, faults) from None

    def write(self, lines: Iterable[Line]) -> None:
        """Replace the file's content."""
        write_file(self._path, "".join(f"{line.model_dump_json()}\n" for line in lines).encode())

    def append(self, line: Line) -> None:
        """Add one line and sync it to the disk; what cannot be written whole is taken back."""
        with self._path.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                file.write(line.model_dump_json().encode() + b"\n")
                os.fsync(file.fileno())
            except BaseException:
                with contextlib.suppress(OSError):
                    file.truncate(before)
                raise

    def drop_incomplete_line(self) -> bool:
        """Remove an incomplete last line, as after a crash; returns whether there was one."""
        content = self._path.read_bytes()
        if content and not content.endswith(b"\n"):
            with self._path.open("r+b") as file:
                file.truncate(content.rfind(b"\n") + 1)
            return True
        return False
