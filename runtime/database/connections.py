"""Engines of databases: how SQLite is set up, and transactions that exclude other writers."""

import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from runtime.files.private import close_to_others

BUSY_MILLISECONDS = 5_000
"""How long a write waits for another process."""


def create_engine(url: str) -> AsyncEngine:
    """The engine of a database; an SQLite file and its folder are created if missing, and closed to other users.

    Raises:
        OSError: they cannot be created.
    """
    engine = create_async_engine(url)
    file = engine.url.database
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", _set_up_sqlite)
        if file and file != ":memory:":
            _make_private(Path(file))
    return engine


def _make_private(file: Path) -> None:
    """SQLite gives the files that it makes beside the database the database's permissions.

    The database itself is never opened here: to close it would end the locks of this process's other connections
    (https://sqlite.org/howtocorrupt.html, 2.2), so that two of them write at once.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not file.exists():
        descriptor, empty = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
        os.close(descriptor)
        with suppress(FileExistsError):  # another connection was first
            os.link(empty, file)
        os.unlink(empty)  # noqa: PTH108  (a name, as `mkstemp` gives it)
    for each in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        if each.exists():
            close_to_others(each)


@asynccontextmanager
async def exclusive(engine: AsyncEngine) -> AsyncGenerator[AsyncConnection]:
    """A transaction without any other writer of an SQLite database, from its first statement on."""
    async with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            await connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection
        await connection.commit()


def _set_up_sqlite(connection: DBAPIConnection, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()
