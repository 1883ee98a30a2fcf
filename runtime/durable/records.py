"""What is recorded of durable work: where it is, and how it is deleted, without DBOS, which may not be installed."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, MetaData, delete, inspect
from sqlalchemy.exc import SQLAlchemyError

from runtime.database.backends.urls import search_path, sqlite_file, sqlite_url
from runtime.database.connections import opened_engine
from runtime.database.sealed_rows import erase_what_was_replaced

SUFFIX: Final = "-durable"
"""What is added to the name of an SQLite database for the file of DBOS, which wants one to itself."""

_WORKFLOW: Final = "workflow_uuid"
"""The column of DBOS's tables that says which workflow a row is of."""

log = logging.getLogger(__name__)


def durable_file(url: str) -> Path | None:
    """The file of DBOS's tables beside an SQLite database; None for one in memory, or of another kind."""
    file = sqlite_file(url)
    return None if file is None else file.with_name(f"{file.stem}{SUFFIX}{file.suffix}")


def durable_schema(url: str) -> str:
    """The schema of DBOS's tables on Postgres: beside the one that the URL's search path begins with, if it has one."""
    return f"{search_path(url) or 'wirewright'}_durable"


def workflow_id(owner: str, turn: str) -> str:
    """The id of a turn's workflow, which says whose it is."""
    return f"turn:{owner}:{turn}"


async def remove_records(url: str, owner: str) -> int:
    """Delete what is recorded of a user's work; returns how many rows.

    Args:
        url: the database beside which it is.
        owner: the user.

    Raises:
        StoreUnavailable: it cannot be written; nothing was deleted.
    """
    file = durable_file(url)
    if file is not None and not await asyncio.to_thread(file.exists):
        return 0
    async with opened_engine(url if file is None else sqlite_url(file)) as engine:
        async with engine.begin() as connection:
            count = await connection.run_sync(_delete, None if file else durable_schema(url), owner)
        if count:
            try:
                await erase_what_was_replaced(engine)
            except SQLAlchemyError:
                log.warning("durable.deleted_rows_not_erased: a server uses the file; `VACUUM` erases them")
    return count


async def remove_all_records(url: str) -> None:
    """Delete what is recorded of everybody's work, for a database that becomes another one; no server uses it.

    Raises:
        StoreUnavailable: it cannot be written.
        OSError: a file cannot be deleted.
    """
    file = durable_file(url)
    if file is not None:
        for ending in ("", "-wal", "-shm"):
            await asyncio.to_thread(file.with_name(file.name + ending).unlink, missing_ok=True)
        return
    async with opened_engine(url) as engine, engine.begin() as connection:
        await connection.run_sync(_delete, durable_schema(url), None)


def _delete(connection: Connection, schema: str | None, owner: str | None) -> int:
    """Delete the rows of workflows, whichever tables there are; returns how many."""
    found = MetaData()
    if schema is None or schema in inspect(connection).get_schema_names():
        found.reflect(connection, schema=schema)
    count = 0
    for table in reversed(found.sorted_tables):
        if _WORKFLOW in table.columns:
            rows = delete(table)
            if owner is not None:
                rows = rows.where(table.c[_WORKFLOW].startswith(workflow_id(owner, ""), autoescape=True))
            count += connection.execute(rows).rowcount
    return count
