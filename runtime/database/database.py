"""The database of everything that is stored, opened when it is first used.

SQLAlchemy is imported in a thread on first use: a process that stores nothing starts without it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.paths import data_folder
from runtime.database.backends.recorded import transaction
from runtime.database.backends.urls import is_sqlite, sqlite_file
from runtime.database.errors import DatabaseGone, DatabaseSlow, unavailable
from runtime.database.secrets.files import has_earlier_files
from runtime.database.secrets.peek import Peek
from runtime.keychain.documents import DocumentSealing

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine


TURN_SECONDS = 30
"""How long a writer waits for those of this process before it."""


_LOCK = "SELECT pg_advisory_xact_lock(:space, hashtext(:owner))"
_SPACE = 0x5752


class Database:
    """An SQL database. Every method may raise `StoreUnavailable`.

    Args:
        url: an SQLAlchemy URL with an asynchronous driver.
        data: the data folder, which has the key, and whose conversations of version 0.1 are taken over; None takes over
            none, and the key of the usual folder.
        migrates: whether an earlier schema is migrated when the database is opened, and not refused; None migrates
            SQLite, which belongs to one machine.

    Attributes:
        documents: encrypts what is stored.
        url: the URL.
    """

    def __init__(self, url: str, data: Path | None = None, *, migrates: bool | None = None) -> None:
        self.url = url
        self._data = data
        self._migrates = is_sqlite(url) if migrates is None else migrates
        self._file = sqlite_file(url)
        self._peek = None if self._file is None else Peek(self._file)
        self._identity: tuple[int, int] | None = None
        self.documents = DocumentSealing(data or data_folder())
        self._engine: AsyncEngine | None = None
        self._reader: AsyncEngine | None = None
        self._opening = asyncio.Lock()
        self._writing = asyncio.Lock()

    async def open(self) -> AsyncEngine:
        """Open the database if it is not open, with the current schema."""
        async with self._opening:
            if self._engine is None:
                open_current = await asyncio.to_thread(_import_schema)
                from runtime.database.backends.postgres_pool import reading_engine

                with _failures():
                    engine = await open_current(self.url, self._data, self.documents, migrates=self._migrates)
                    self._identity = self._found()
                    self._engine, self._reader = engine, reading_engine(engine)
            elif self._found() != self._identity:  # what is written to a file that was removed is lost
                raise DatabaseGone
            return self._engine

    @property
    def is_missing(self) -> bool:
        """Whether nothing can be stored, because there is no file yet, nor any of an earlier version."""
        if self._engine is not None or self._file is None or self._file.exists():
            return False
        return self._data is None or not has_earlier_files(self._data)

    def peek(self, owner: str) -> dict[str, str] | None:
        """The encrypted secrets of an owner by kind, at once; None where the database is to be opened for them."""
        if self._peek is None or (self._engine is None and self._data is not None and has_earlier_files(self._data)):
            return None
        return self._peek.of(owner)

    def read_at_once(self, statement: str, values: Sequence[str | int]) -> list[tuple[Any, ...]] | None:
        """Few rows of an SQLite file that is open, in microseconds and as they are; None where they are to be read.

        Args:
            statement: SQL that reads by a key, with `?` for each value.
            values: the values.
        """
        if self._peek is None or self._engine is None or self._found() != self._identity:
            return None
        return self._peek.rows(statement, values)

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[AsyncConnection]:
        """A connection to read with. On Postgres each statement sees what is stored by then."""
        await self.open()
        reader = self._reader
        assert reader is not None  # noqa: S101  (opened; narrows the type)
        with _failures():
            async with reader.connect() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self, *owners: str) -> AsyncGenerator[AsyncConnection]:
        """A connection in a transaction, committed at the end of the block.

        The writers of this process take turns, so that none waits too long for SQLite's lock.

        Args:
            owners: those whose rows are read and then changed, or counted and dropped: writers of other processes
                that name one of them wait on Postgres, as all do on SQLite.
        """
        engine = await self.open()
        async with self._turn():
            with _failures(), transaction():
                async with engine.begin() as connection:
                    if engine.dialect.name == "postgresql":
                        await lock_owners(connection, owners)
                    yield connection

    async def check(self) -> None:
        """Make sure that the database can be written now, by a change that changes nothing.

        Raises:
            StoreUnavailable: it cannot.
        """
        from runtime.database.schema import touch

        async with self.writing() as connection:
            await connection.run_sync(touch)

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        """The turn of one writer.

        Raises:
            DatabaseSlow: the writers before take too long.
        """
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._writing.acquire()
        except TimeoutError:
            raise DatabaseSlow from None
        try:
            yield
        finally:
            self._writing.release()

    def _found(self) -> tuple[int, int] | None:
        """Which file the database is now; None when there is none."""
        if self._file is None:
            return None
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    async def aclose(self) -> None:
        """Close every connection; the next use opens the database again."""
        if self._peek is not None:
            self._peek.close()
        engine, self._engine, self._reader = self._engine, None, None
        if engine is not None:
            await engine.dispose()


async def lock_owners(connection: AsyncConnection, owners: Collection[str]) -> None:
    """Let no other transaction that names one of these owners go on before this one on Postgres has ended."""
    from sqlalchemy import text

    for owner in sorted(set(owners)):  # in one order, so that nobody waits in a circle
        await connection.execute(text(_LOCK), {"space": _SPACE, "owner": owner})


def _import_schema() -> Callable[..., Awaitable[AsyncEngine]]:
    from runtime.database.schema import open_current

    return open_current


@contextmanager
def _failures() -> Generator[None]:
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError, ImportError) as error:  # a URL may name a driver that is absent
        raise unavailable(error) from error
