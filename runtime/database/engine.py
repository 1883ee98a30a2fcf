"""The engine of a database: how SQLite is set up, and that the schema is current before anything uses it."""

from pathlib import Path

from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from runtime.database.schema import bring_up_to_date
from runtime.database.version_0_1 import take_over_conversations

BUSY_MILLISECONDS = 5_000
"""How long a write waits for another process."""


async def open_engine(url: str, data: Path | None) -> AsyncEngine:
    """Open a database, creating its folder and its tables where there are none.

    Args:
        url: an SQLAlchemy URL with an asynchronous driver.
        data: the data folder, whose conversations of version 0.1 are taken over.

    Raises:
        DatabaseTooNew: its schema is a later one.
        SQLAlchemyError: it cannot be opened.
        OSError: its folder cannot be created.
    """
    engine = create_async_engine(url)
    file = engine.url.database
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", _set_up_sqlite)
        if file and file != ":memory:":
            Path(file).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        await bring_up_to_date(engine)
        if data is not None:
            await take_over_conversations(engine, data)
    except BaseException:
        await engine.dispose()
        raise
    return engine


def _set_up_sqlite(connection: DBAPIConnection, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()
