"""Opens a database and brings it to the current schema.

A current schema costs one query. A new SQLite file is written with the current tables in it, and an empty database
gets them without Alembic; Alembic is imported only to migrate an older schema.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final

from sqlalchemy import Column, Connection, MetaData, String, Table, insert, inspect, select, update
from sqlalchemy import create_engine as synchronous
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import StaticPool
from sqlalchemy.schema import CreateIndex, CreateTable

from runtime.database.backends.once import TurnEffectRow
from runtime.database.connections import create_engine, exclusive
from runtime.database.errors import DatabaseTooNew, SchemaOutdated
from runtime.database.sealed_rows import erase_what_was_replaced
from runtime.database.secrets import key_check
from runtime.database.secrets.take_over import take_over_secrets
from runtime.database.tables import Base
from runtime.database.version_0_1 import back_up, copy_flows, set_flows_aside, take_over_conversations, take_over_flows
from runtime.jobs import tables as job_tables
from runtime.keychain.documents import DocumentSealing
from runtime.langflow.store import tables as langflow_tables
from runtime.mcp import tables as mcp_tables

log = logging.getLogger(__name__)

HEAD: Final = "0023"
"""The revision of the tables: the last one of `migrations/versions`."""

VERSION_0_1: Final = "0.1"
"""Stands for the missing revision of a database of version 0.1."""

_WAL: Final = 2
"""How an SQLite file says that it has a write-ahead log (https://sqlite.org/fileformat2.html, 1.3.3)."""

TABLES: Final = (
    Base,
    TurnEffectRow,
    langflow_tables.LangflowLinkRow,
    mcp_tables.McpCallRow,
    job_tables.JobRow,
    key_check.KeyCheckRow,
)
"""What has to be imported for every table to be known."""

_REVISION: Final = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


async def open_current(
    url: str, data: Path | None, documents: DocumentSealing, *, migrates: bool = True
) -> AsyncEngine:
    """Open a database with the current schema, creating or migrating what is missing.

    Args:
        url: an SQLAlchemy URL with an asynchronous driver.
        data: the data folder, whose data of earlier versions is taken over.
        documents: encrypts what earlier versions did not.
        migrates: whether an earlier schema is migrated; an empty database gets its tables in any case.

    Raises:
        DatabaseTooNew: its schema is a later one.
        SchemaOutdated: its schema is an earlier one, which is not to be migrated.
        SecretKeyUnavailable: what earlier versions stored cannot be encrypted, or what is stored was encrypted with
            another key; nothing was changed.
        SQLAlchemyError: it cannot be opened.
        OSError: its folder cannot be created.
    """
    engine = await asyncio.to_thread(create_engine, url, new_file)
    try:
        replaced = await _bring_up_to_date(engine, documents, migrates=migrates)
        if data is not None:
            await take_over_flows(engine, data, documents)
            await take_over_conversations(engine, data, documents)
            await take_over_secrets(engine, data, documents)
        if replaced:
            await _erase(engine)
        await key_check.confirm_key(engine, documents)
    except BaseException:
        await engine.dispose()
        raise
    return engine


async def _bring_up_to_date(engine: AsyncEngine, documents: DocumentSealing, *, migrates: bool) -> bool:
    """Create or migrate the tables if they are not current; of several processes, one does it and the others wait.

    Returns:
        Whether this process has migrated them.
    """
    async with engine.connect() as connection:
        found = await connection.run_sync(revision)
    if found == HEAD:
        return False
    if found is not None and not migrates:
        raise await asyncio.to_thread(_outdated, found)
    async with exclusive(engine) as connection:
        found = await connection.run_sync(revision)
        if found in (None, VERSION_0_1):
            if found == VERSION_0_1:
                await asyncio.to_thread(back_up, engine.url)
                await connection.run_sync(set_flows_aside)
            await connection.run_sync(_create)
            if found == VERSION_0_1:
                await connection.run_sync(copy_flows, documents)
        elif found != HEAD:
            await connection.run_sync(await asyncio.to_thread(_load_migrate), found, documents)
        return found not in (None, HEAD)


async def _erase(engine: AsyncEngine) -> None:
    try:
        await erase_what_was_replaced(engine)
    except SQLAlchemyError:
        log.warning("database.replaced_rows_not_erased: another process uses the database; `VACUUM` erases them")


def revision(connection: Connection) -> str | None:
    """The revision of a database's schema; None without tables of Wirewright."""
    tables = inspect(connection).get_table_names()
    if _REVISION.name in tables:
        return connection.execute(select(_REVISION.c.version_num)).scalar_one_or_none()
    return VERSION_0_1 if "flows" in tables else None


def touch(connection: Connection) -> None:
    """Write the revision that is there."""
    connection.execute(update(_REVISION).values(version_num=_REVISION.c.version_num))


def _outdated(found: str) -> SchemaOutdated | DatabaseTooNew:
    from runtime.database.migrations import revisions

    return SchemaOutdated(found, HEAD) if found in (VERSION_0_1, *revisions()) else DatabaseTooNew(found)


@cache
def new_file() -> bytes:
    """An SQLite file that holds the current tables, empty: to write it takes a sixth of what creating them does."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as memory:
        engine = synchronous("sqlite://", creator=lambda: memory, poolclass=StaticPool)
        with engine.begin() as connection:
            _create(connection)
        content = bytearray(memory.serialize())
    content[18:20] = _WAL, _WAL
    return bytes(content)


def _create(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_postgres_tables(), execution_options={"no_parameters": True})
    else:
        Base.metadata.create_all(connection)
        _REVISION.create(connection, checkfirst=True)
    connection.execute(insert(_REVISION).values(version_num=HEAD))


@cache
def _postgres_tables() -> str:
    """The statements that create what is missing on Postgres, which takes all of them in one message."""
    from sqlalchemy.dialects import postgresql

    tables = [*Base.metadata.sorted_tables, _REVISION]
    indexes = [index for table in tables for index in sorted(table.indexes, key=lambda index: str(index.name))]
    statements = [
        *(CreateTable(table, if_not_exists=True) for table in tables),
        *(CreateIndex(index, if_not_exists=True) for index in indexes),
    ]
    return ";".join(str(statement.compile(dialect=postgresql.dialect())) for statement in statements)


def _load_migrate() -> Callable[[Connection, str | None, DocumentSealing], None]:
    from runtime.database.migrations import migrate

    return migrate
