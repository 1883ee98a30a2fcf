"""SQLite through `aiosqlite`, with one trip to the connection's thread for each statement.

SQLAlchemy's own adapter makes four: it opens a cursor, executes, fetches and closes; and one more, to end a transaction
that a read has never begun. Each wakes a thread and then the loop, which costs more than most statements do.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import aiosqlite
from sqlalchemy.dialects.sqlite.aiosqlite import (
    AsyncAdapt_aiosqlite_connection,
    AsyncAdapt_aiosqlite_cursor,
    AsyncAdapt_aiosqlite_dbapi,
)


def one_trip_driver() -> AsyncAdapt_aiosqlite_dbapi:
    """The driver for engines of `sqlite+aiosqlite`, as the argument `module` of `create_async_engine`."""
    return _Driver(aiosqlite, sqlite3)


class _Outcome(NamedTuple):
    """What a cursor knew after its statement, beside the rows."""

    description: Any = None
    rowcount: int = -1
    lastrowid: Any = None


_NOTHING: Final = _Outcome()


class _Driver(AsyncAdapt_aiosqlite_dbapi):
    def connect(self, *arg: Any, **kw: Any) -> AsyncAdapt_aiosqlite_connection:
        adapted: Any = super().connect(*arg, **kw)
        return _Connection(self, adapted._connection)


class _Cursor(AsyncAdapt_aiosqlite_cursor):
    """A cursor whose rows are there once its statement was executed; nothing of it has to be closed."""

    __slots__ = ("_arraysize", "_outcome")

    _awaitable_cursor_close = False

    def __init__(self, adapt_connection: Any) -> None:  # that of SQLAlchemy opens one
        self._adapt_connection = adapt_connection
        self._connection = adapt_connection._connection
        self._outcome = _NOTHING
        self._rows = deque[Any]()
        self._arraysize = 1

    @property
    def description(self) -> Any:
        return self._outcome.description

    @property
    def arraysize(self) -> int:
        return self._arraysize

    @arraysize.setter
    def arraysize(self, value: int) -> None:
        self._arraysize = value

    @property
    def rowcount(self) -> int:
        return self._outcome.rowcount

    @property
    def lastrowid(self) -> Any:
        return self._outcome.lastrowid

    async def _execute_async(self, operation: Any, parameters: Any) -> None:
        await self._trip(operation, () if parameters is None else parameters, many=False)

    async def _executemany_async(self, operation: Any, seq_of_parameters: Any) -> None:
        await self._trip(operation, seq_of_parameters, many=True)

    async def _trip(self, statement: str, parameters: Any, *, many: bool) -> None:
        adapted: Any = self._adapt_connection
        driver: Any = self._connection
        async with adapted._execute_mutex:
            adapted.settled = False  # and stays so if this fails, or is cancelled while the thread goes on
            rows, self._outcome = await driver._execute(_executed, driver._conn, statement, parameters, many=many)
            adapted.settled = True
            self._rows = deque(rows)

    def close(self) -> None:
        self._rows.clear()


class _Connection(AsyncAdapt_aiosqlite_connection):
    """A connection that ends a transaction only where there may be one; SQLite would do nothing otherwise.

    Attributes:
        settled: whether its thread has nothing left to do, so that what SQLite says of a transaction is final.
    """

    __slots__ = ("settled",)

    _cursor_cls = _Cursor

    def __init__(self, dbapi: Any, connection: Any) -> None:
        super().__init__(dbapi, connection)
        self.settled = True

    def rollback(self) -> None:
        if self._may_be_in_transaction():
            super().rollback()
            self.settled = True

    def commit(self) -> None:
        if self._may_be_in_transaction():
            super().commit()
            self.settled = True

    def _may_be_in_transaction(self) -> bool:
        connection: Any = self._connection
        return not self.settled or connection._connection is None or connection.in_transaction


def _executed(
    connection: sqlite3.Connection, statement: str, parameters: Any, *, many: bool
) -> tuple[Sequence[Any], _Outcome]:
    """Execute one statement, in the connection's thread; all of its rows, and the rest."""
    cursor = connection.cursor()
    try:
        if many:
            cursor.executemany(statement, parameters)
        else:
            cursor.execute(statement, parameters)
        rows = cursor.fetchall() if cursor.description else ()
        return rows, _Outcome(cursor.description, cursor.rowcount, cursor.lastrowid)
    finally:
        cursor.close()
