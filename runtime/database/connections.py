"""Engines of databases: how SQLite is set up, and transactions that exclude other writers."""

import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from runtime.database.backends.insertion import insert_for
from runtime.database.backends.postgres_pool import try_what_rested
from runtime.database.backends.sqlite_driver import one_trip_driver
from runtime.database.base import Base
from runtime.database.errors import unavailable
from runtime.files.private import close_to_others

BUSY_MILLISECONDS = 5_000
"""How long a write waits for another process."""

STATEMENT_MILLISECONDS = 30_000
"""How long a statement may take on Postgres."""

IDLE_MILLISECONDS = 3_000
"""How long a transaction on Postgres may wait for its process to go on, before Postgres ends it.

A process that is frozen within a transaction keeps what it has locked until then: less long than others wait for a
lock, and than the lease after which its work is given to them.
"""

CONNECT_SECONDS = 5
"""How long connecting to Postgres may take, and waiting for a connection of the pool."""

_LOCK = 0x57495245
"""The key of the advisory lock of Postgres that `exclusive` holds."""


def create_engine(url: str, new_file: Callable[[], bytes] = bytes) -> AsyncEngine:
    """The engine of a database; an SQLite file and its folder are created if missing, and closed to other users.

    Args:
        url: an SQLAlchemy URL with an asynchronous driver.
        new_file: gives the content of an SQLite file that is created.

    Raises:
        OSError: they cannot be created.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() == "postgresql":
        waits = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": 2 * BUSY_MILLISECONDS}
        engine = create_async_engine(parsed, connect_args=waits, pool_timeout=CONNECT_SECONDS, pool_use_lifo=True)
        event.listen(engine.sync_engine, "connect", _set_up_postgres)
        try_what_rested(engine)
        return engine
    driver = one_trip_driver() if parsed.drivername == "sqlite+aiosqlite" else None
    engine = create_async_engine(parsed, module=driver)
    file = engine.url.database
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", _set_up_sqlite)
        if file and file != ":memory:":
            _make_private(Path(file), new_file)
    return engine


@asynccontextmanager
async def opened_engine(url: str) -> AsyncGenerator[AsyncEngine]:
    """The engine of a database, whatever its schema, closed at the end of the block.

    Raises:
        StoreUnavailable: it cannot be created, or the block fails because of the database.
    """
    try:
        engine = create_engine(url)
    except (SQLAlchemyError, OSError, ImportError) as failure:  # a URL may name a driver that is absent
        raise unavailable(failure) from failure
    try:
        yield engine
    except SQLAlchemyError as failure:
        raise unavailable(failure) from failure
    finally:
        await engine.dispose()


def _make_private(file: Path, new_file: Callable[[], bytes]) -> None:
    """Create a file if it is missing, and close it to other users.

    SQLite gives the files that it makes beside the database the database's permissions.

    The database itself is never opened here: to close it would end the locks of this process's other connections
    (https://sqlite.org/howtocorrupt.html, 2.2), so that two of them write at once.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not file.exists():
        with tempfile.NamedTemporaryFile(prefix=f".{file.name}-", dir=file.parent) as made:
            made.write(new_file())
            made.flush()
            with suppress(FileExistsError):  # another connection was first
                os.link(made.name, file)
    for each in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        if each.exists():
            close_to_others(each)


async def upsert(
    connection: AsyncConnection,
    row: type[Base],
    key: Mapping[str, object],
    new: Mapping[str, object],
    changed: Mapping[str, object] | None = None,
) -> None:
    """Change the row with a key, or add it, in one statement: of several processes that add it at once, none fails.

    Args:
        connection: is in a transaction.
        row: the table.
        key: the values of a unique constraint's columns.
        new: those of the other columns, of a row that is added.
        changed: what is changed in a row that is there; None changes it to `new`.
    """
    added = insert_for(connection.dialect, row).values(**key, **new)
    await connection.execute(added.on_conflict_do_update(index_elements=list(key), set_=dict(changed or new)))


@asynccontextmanager
async def exclusive(engine: AsyncEngine) -> AsyncGenerator[AsyncConnection]:
    """A transaction without any other writer of an SQLite database, and without another such one on Postgres."""
    async with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            await connection.exec_driver_sql("BEGIN IMMEDIATE")
        elif engine.dialect.name == "postgresql":
            await connection.exec_driver_sql("SET LOCAL lock_timeout = 0")  # others may be migrating
            await connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            await connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
            await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        yield connection
        await connection.commit()


def _set_up_postgres(connection: DBAPIConnection, _: object) -> None:
    cursor = connection.cursor()
    for name, milliseconds in (
        ("lock_timeout", BUSY_MILLISECONDS),
        ("statement_timeout", STATEMENT_MILLISECONDS),
        ("idle_in_transaction_session_timeout", IDLE_MILLISECONDS),
    ):
        cursor.execute(f"SET {name} = {milliseconds}")
    cursor.close()
    connection.commit()


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.run_async(_with_pragmas)  # one hop to its thread, not one each


async def _with_pragmas(driver: Any) -> None:
    waits = f"PRAGMA busy_timeout={BUSY_MILLISECONDS}"
    await driver.executescript(f"{waits}; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;")
