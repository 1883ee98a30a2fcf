"""Takes over the data of version 0.1: flows without an owner, and conversations in a separate file."""

import asyncio
import logging
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, insert, inspect, select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from runtime.database.backends.urls import FILE
from runtime.database.connections import exclusive
from runtime.database.sealed_rows import sealed_flow
from runtime.database.tables import ConversationRow, FlowRow, RevisionRow
from runtime.files.folders import LOCAL_USER
from runtime.files.private import close_to_others
from runtime.keychain.documents import DocumentSealing

BACKUP: Final = ".v0.1.bak"
"""Suffix of a file of version 0.1 after it was taken over."""

CONVERSATIONS: Final = "conversations.sqlite"

_FLOWS: Final = "flows_v0_1"
_COLUMNS: Final = "id, name, node_count, edge_count, version, updated_at, document"

log = logging.getLogger(__name__)


def back_up(url: URL) -> None:
    """Copy an SQLite file to one beside it, completely or not at all.

    Args:
        url: the database; nobody may write to it meanwhile.
    """
    if not url.get_backend_name().startswith("sqlite") or not url.database:
        return
    file = Path(url.database)
    unfinished = file.with_name(f"{file.name}{BACKUP}.tmp")
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(unfinished)) as copy:
        close_to_others(unfinished)
        source.backup(copy)
    unfinished.replace(file.with_name(file.name + BACKUP))


def set_flows_aside(connection: Connection) -> None:
    """Rename the old table of flows to make room for the current one."""
    for index in inspect(connection).get_indexes("flows"):
        connection.execute(text(f'DROP INDEX "{index["name"]}"'))
    connection.execute(text(f"ALTER TABLE flows RENAME TO {_FLOWS}"))


def copy_flows(connection: Connection, documents: DocumentSealing) -> None:
    """Move the flows to the current table, as those of the local user, with their keys encrypted."""
    rows = connection.execute(text(f"SELECT {_COLUMNS} FROM {_FLOWS}"))  # noqa: S608  (both are constants)
    for row in rows.mappings():
        _add_flow(connection, {str(name): value for name, value in row.items()}, documents)
    connection.execute(text(f"DROP TABLE {_FLOWS}"))


async def take_over_flows(engine: AsyncEngine, data: Path, documents: DocumentSealing) -> None:
    """Copy the flows of version 0.1 into a database that is not their file, then rename the file to its backup.

    A file that cannot be read stays where it is, and the log says so.

    Args:
        engine: a database with the current schema.
        data: the folder that may have the file.
        documents: encrypts the keys in them.

    Raises:
        SecretKeyUnavailable: they cannot be encrypted; the file stays.
    """
    file = data / FILE
    if engine.dialect.name == "sqlite" or not await asyncio.to_thread(file.is_file):
        return
    try:
        rows = await asyncio.to_thread(_read_flows, file)
    except sqlite3.Error:
        log.exception("database.flows_not_taken_over")
        return
    if rows is None:
        return
    async with exclusive(engine) as connection:
        await connection.run_sync(_add_flows, rows, documents)
    await asyncio.to_thread(_rename, file)


def _read_flows(file: Path) -> list[dict[str, Any]] | None:
    """The flows in a file of version 0.1; None in one of a later version."""
    with closing(sqlite3.connect(file)) as source:
        source.row_factory = sqlite3.Row
        tables = {name for (name,) in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "flows" not in tables or "alembic_version" in tables:
            return None
        return [dict(row) for row in source.execute(f"SELECT {_COLUMNS} FROM flows")]  # noqa: S608  (a constant)


def _add_flows(connection: Connection, rows: list[dict[str, Any]], documents: DocumentSealing) -> None:
    known = set(connection.execute(select(FlowRow.id)).scalars())
    for row in rows:
        if row["id"] not in known:
            _add_flow(connection, row, documents)


def _add_flow(connection: Connection, row: Mapping[str, Any], documents: DocumentSealing) -> None:
    """Store a flow as one of the local user, with its history, which begins here."""
    values = {**row, "owner": LOCAL_USER, "document": sealed_flow(documents, row["document"])}
    connection.execute(insert(FlowRow).values(**values))
    values["flow"], values["at"] = values.pop("id"), values.pop("updated_at")
    connection.execute(insert(RevisionRow).values(author="client", session="", turn="", **values))


async def take_over_conversations(engine: AsyncEngine, data: Path, documents: DocumentSealing) -> None:
    """Copy the conversations of version 0.1 into the database, then rename their file to its backup.

    A file that cannot be read stays where it is, and the log says so.

    Args:
        engine: a database with the current schema.
        data: the folder that may have the file.
        documents: encrypts the conversations.

    Raises:
        SecretKeyUnavailable: they cannot be encrypted; the file stays.
    """
    file = data / CONVERSATIONS
    if not await asyncio.to_thread(file.is_file):
        return
    try:
        rows = await asyncio.to_thread(_read, file)
    except sqlite3.Error:
        log.exception("database.conversations_not_taken_over")
        return
    async with exclusive(engine) as connection:
        await connection.run_sync(_add, rows, documents)
    await asyncio.to_thread(_rename, file)


def _read(file: Path) -> list[tuple[str, str, int, str]]:
    with closing(sqlite3.connect(file)) as source:
        return source.execute("SELECT user, session, used, kept FROM sessions").fetchall()


def _add(connection: Connection, rows: list[tuple[str, str, int, str]], documents: DocumentSealing) -> None:
    known = {
        (owner, name) for owner, name in connection.execute(select(ConversationRow.owner, ConversationRow.session))
    }
    for owner, session, used, document in rows:
        if (owner, session) not in known:
            connection.execute(
                insert(ConversationRow).values(
                    owner=owner,
                    session=session,
                    used=used,
                    document=documents.seal_text(document),
                    waiting=None,
                )
            )


def _rename(file: Path) -> None:
    try:
        close_to_others(file)
        file.rename(file.with_name(file.name + BACKUP))
    except FileNotFoundError:
        log.info("database.conversations_taken_over_by_another_process")
