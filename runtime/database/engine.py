"""Engines of databases: how SQLite is set up, and transactions that exclude other writers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

BUSY_MILLISECONDS = 5_000
"""How long a write waits for another process."""


def create_engine(url: str) -> AsyncEngine:
    """The engine of a database; the folder of an SQLite file is created if it is missing.

    Raises:
        OSError: the folder cannot be created.
    """
    engine = create_async_engine(url)
    file = engine.url.database
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", _set_up_sqlite)
        if file and file != ":memory:":
            Path(file).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return engine


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
