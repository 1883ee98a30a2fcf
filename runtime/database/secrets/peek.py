"""Reads a few rows of an SQLite file without SQLAlchemy, which a command would import and a request would wait for."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

_OF_OWNER = "SELECT kind, document FROM secrets WHERE owner = ?"


class Peek:
    """A connection that reads rows of an SQLite file, as they are at that moment.

    Args:
        file: the database.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        self._lock = Lock()

    def of(self, owner: str) -> dict[str, str] | None:
        """The encrypted documents of an owner by kind; None when the file cannot tell."""
        found = self.rows(_OF_OWNER, (owner,))
        return None if found is None else dict(found)

    def rows(self, statement: str, values: Sequence[str | int]) -> list[tuple[Any, ...]] | None:
        """The rows of a statement that reads few; it takes some microseconds, and waits for nobody.

        Args:
            statement: with `?` for each value.
            values: the values.

        Returns:
            The rows; None when the file cannot tell, such as one of an earlier schema, and is to be opened.
        """
        try:
            with self._lock:
                return self._current().execute(statement, values).fetchall()
        except (sqlite3.Error, OSError):
            self.close()
            return None

    def close(self) -> None:
        """Close the connection; the next use opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _current(self) -> sqlite3.Connection:
        """The connection to the file that is there now: a restored one is another file."""
        found = self._file.stat()
        if self._connection is None or self._opened != (found.st_dev, found.st_ino):
            self.close()
            address = f"{self._file.absolute().as_uri()}?mode=rw"
            self._connection = sqlite3.connect(address, uri=True, timeout=0.0, check_same_thread=False)
            self._opened = (found.st_dev, found.st_ino)
        return self._connection
