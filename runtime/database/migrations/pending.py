"""What a database lacks for the current schema, and bringing it there."""

from dataclasses import dataclass
from pathlib import Path

from runtime.database import schema
from runtime.database.backends.urls import sqlite_file
from runtime.database.connections import opened_engine
from runtime.database.database import Database
from runtime.database.errors import DatabaseTooNew, unavailable
from runtime.database.migrations import revisions


@dataclass(frozen=True, kw_only=True)
class Pending:
    """What is to be migrated.

    Attributes:
        revision: the schema that the database has; None for an empty one.
        current: the schema that this version of Wirewright needs.
        steps: what each migration that is due does, by its revision, in their order.
    """

    revision: str | None
    current: str
    steps: dict[str, str]


async def pending(url: str) -> Pending:
    """What a database lacks; nothing is changed.

    Raises:
        StoreUnavailable: it cannot be read.
        DatabaseTooNew: a later version of Wirewright wrote it.
    """
    found, known = await _revision(url), revisions()
    if found is not None and found not in (*known, schema.VERSION_0_1):
        raise DatabaseTooNew(found)
    done = list(known).index(found) + 1 if found in known else 0
    return Pending(revision=found, current=schema.HEAD, steps=dict(list(known.items())[done:]))


async def migrate_database(url: str, data: Path) -> Pending:
    """Bring a database to the current schema; returns what was due.

    Args:
        url: the database; an empty one gets its tables.
        data: the data folder, whose data of version 0.1 is taken over.

    Raises:
        StoreUnavailable: it cannot be used; it stays as it was.
    """
    due = await pending(url)
    database = Database(url, data, migrates=True)
    try:
        await database.open()
    finally:
        await database.aclose()
    return due


async def _revision(url: str) -> str | None:
    file = sqlite_file(url)
    if file is not None and not file.exists():
        return None
    try:
        async with opened_engine(url) as engine, engine.connect() as connection:
            return await connection.run_sync(schema.revision)
    except OSError as failure:
        raise unavailable(failure) from failure
