"""The database of everything that is stored, opened when it is first used.

SQLAlchemy is imported in a thread on first use: a process that stores nothing starts without it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flows.paths import data_folder
from runtime.database.errors import StoreUnavailable
from runtime.keychain.documents import DocumentSealing

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine


class Database:
    """An SQL database. Every method may raise `StoreUnavailable`.

    Args:
        url: an SQLAlchemy URL with an asynchronous driver.
        data: the data folder, which has the key, and whose conversations of version 0.1 are taken over; None takes over
            none, and the key of the usual folder.

    Attributes:
        documents: encrypts what is stored.
    """

    def __init__(self, url: str, data: Path | None = None) -> None:
        self._url = url
        self._data = data
        self.documents = DocumentSealing(data or data_folder())
        self._engine: AsyncEngine | None = None
        self._opening = asyncio.Lock()
        self._writing = asyncio.Lock()

    async def open(self) -> AsyncEngine:
        """Open the database if it is not open, with the current schema."""
        async with self._opening:
            if self._engine is None:
                open_current = await asyncio.to_thread(_import_schema)
                with _failures():
                    self._engine = await open_current(self._url, self._data, self.documents)
            return self._engine

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[AsyncConnection]:
        """A connection to read with."""
        engine = await self.open()
        with _failures():
            async with engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[AsyncConnection]:
        """A connection in a transaction, committed at the end of the block.

        The writers of this process take turns, so that none waits too long for SQLite's lock.
        """
        engine = await self.open()
        async with self._writing:
            with _failures():
                async with engine.begin() as connection:
                    yield connection

    async def aclose(self) -> None:
        """Close every connection; the next use opens the database again."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.dispose()


def _import_schema() -> Callable[[str, Path | None, DocumentSealing], Awaitable[AsyncEngine]]:
    from runtime.database.schema import open_current

    return open_current


@contextmanager
def _failures() -> Generator[None]:
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError, ImportError) as error:  # a URL may name a driver that is absent
        raise StoreUnavailable from error
