"""Restores a backup: the database in one step, then the files of the data folder."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import zipfile
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, select, text
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from flows.document import JsonObject
from flows.json_values import as_object, as_text
from runtime.archive.backup import COMMAND, KIND, BackedUp
from runtime.archive.errors import ArchiveError, not_an_archive
from runtime.archive.folder import contents, is_ours, remove_all
from runtime.archive.in_use import BeingServed, refuse_while_served
from runtime.archive.rows import add_rows, continue_numbers, read_rows, reflected
from runtime.archive.zipped import DATA, TABLES, reading
from runtime.database.backends.serving import AlreadyServed, hold_for_serving
from runtime.database.backends.urls import sqlite_file, sqlite_url
from runtime.database.connections import exclusive, opened_engine
from runtime.database.migrations import migrate
from runtime.durable.records import remove_all_records
from runtime.files.atomic import write_atomically
from runtime.files.names import TEMPORARY_PREFIX
from runtime.files.private import close_data_folder, private_data_folder
from runtime.keychain.documents import DocumentSealing

Rows = Callable[[str], Iterable[dict[str, Any]]]
"""Gives the rows of a table by its name."""


async def restore(path: Path, url: str, data: Path, *, overwrite: bool = False) -> BackedUp:
    """Restore a backup, whatever kind of database it came from.

    Args:
        path: the archive.
        url: the database, which gets the current schema.
        data: the data folder.
        overwrite: whether what is stored there now may be replaced.

    Raises:
        ArchiveError: the archive cannot be used, or something is stored there already; nothing was changed.
        StoreUnavailable: the database cannot be written, or a server uses it; it is as it was.
        OSError: the archive cannot be read, or a file not be written.
    """
    with reading(path, KIND, COMMAND) as (archive, manifest):
        try:
            lock = await asyncio.to_thread(hold_for_serving, url)
        except AlreadyServed as failure:
            raise BeingServed from failure
        try:
            await refuse_while_served(url)
            if not overwrite and (next(contents(data), None) is not None or await _has_rows(url)):
                raise ArchiveError(
                    "not_empty",
                    "something is stored already, which it would replace.",
                    "Write --overwrite to replace everything, or set WIREWRIGHT_DATA and DATABASE_URL to empty places.",
                )
            return await _restore(archive, manifest, url, data)
        finally:
            if lock is not None:
                lock.release()


async def _restore(archive: zipfile.ZipFile, manifest: JsonObject, url: str, data: Path) -> BackedUp:
    await asyncio.to_thread(private_data_folder, data)
    staged = data / f"{TEMPORARY_PREFIX}restore-{secrets.token_hex(4)}"
    try:
        files = await asyncio.to_thread(_extract, archive, staged)
        documents, revision = DocumentSealing(staged), as_text(manifest.get("schema"))
        names = sorted(name for name in archive.namelist() if name.startswith(TABLES))
        tables = [name.removeprefix(TABLES).removesuffix(".jsonl") for name in names]

        def rows(table: str) -> Iterable[dict[str, Any]]:
            with archive.open(f"{TABLES}{table}.jsonl") as file:
                yield from read_rows(file)

        expected = as_object(manifest.get("rows"))
        if sorted(expected) != sorted(tables):
            raise not_an_archive(COMMAND)
        counts = await _replace(url, revision, tables, rows, documents)
        await remove_all_records(url)  # of turns that are no longer those of the database
        await asyncio.to_thread(_move, staged, data)
    finally:
        await asyncio.to_thread(shutil.rmtree, staged, ignore_errors=True)
    key = manifest.get("secret_key")
    origin = key if key in ("environment", "keyring") else "file"
    return BackedUp(rows=counts, files=files, schema=revision, secret_key=origin)


async def _replace(
    url: str, revision: str, tables: list[str], rows: Rows, documents: DocumentSealing
) -> dict[str, int]:
    """Replace what is in a database: an SQLite file by another one, which may be damaged; Postgres in a transaction."""
    file = sqlite_file(url)
    if file is None:
        return await filled(url, revision, tables, rows, documents)
    made = file.with_name(f"{TEMPORARY_PREFIX}{file.name}-{secrets.token_hex(4)}")
    try:
        counts = await filled(sqlite_url(made), revision, tables, rows, documents)
        for ending in ("-wal", "-shm"):
            file.with_name(file.name + ending).unlink(missing_ok=True)
        made.replace(file)
    finally:
        for ending in ("", "-wal", "-shm"):
            made.with_name(made.name + ending).unlink(missing_ok=True)
    return counts


async def filled(url: str, revision: str, tables: list[str], rows: Rows, documents: DocumentSealing) -> dict[str, int]:
    """Let a database hold these rows and nothing else, in the current schema; in one transaction.

    Args:
        url: the database.
        revision: the schema that the rows are of.
        tables: the names of the tables.
        rows: gives the rows of each.
        documents: encrypts what the rows' version did not.

    Returns:
        How many rows, by table.

    Raises:
        ArchiveError: the rows are not those of that schema.
        DatabaseTooNew: a later version has that schema.
        StoreUnavailable: the database cannot be written.
    """
    async with opened_engine(url) as engine:
        try:
            async with exclusive(engine) as connection:
                return await connection.run_sync(_fill, revision, tables, rows, documents)
        except (KeyError, ValueError, TypeError, IntegrityError) as failure:
            raise not_an_archive(COMMAND) from failure


def _fill(
    connection: Connection, revision: str, tables: list[str], rows: Rows, documents: DocumentSealing
) -> dict[str, int]:
    existing = MetaData()
    existing.reflect(connection)
    existing.drop_all(connection)
    connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
    migrate(connection, None, documents, to=revision)
    made, counts = reflected(connection), dict[str, int]()
    for name in tables:
        counts[name] = add_rows(connection, made[name], rows(name))
    for table in made.values():
        continue_numbers(connection, table)
    migrate(connection, revision, documents)
    return counts


async def _has_rows(url: str) -> bool:
    """Whether anything is stored in a database; a file that cannot be read holds something."""
    file = sqlite_file(url)
    if file is not None and not file.exists():
        return False
    async with opened_engine(url) as engine:
        try:
            async with engine.connect() as connection:
                tables = await connection.run_sync(reflected)
                found = [await connection.execute(select(table).limit(1)) for table in tables.values()]
                return any(each.first() is not None for each in found)
        except SQLAlchemyError:
            if file is None:
                raise
            return True


def _extract(archive: zipfile.ZipFile, folder: Path) -> int:
    """Write the files of an archive into a folder; returns how many."""
    private_data_folder(folder)
    count = 0
    for info in archive.infolist():
        if not info.filename.startswith(DATA) or info.is_dir():
            continue
        name = info.filename.removeprefix(DATA)
        if not is_ours(name):
            raise not_an_archive(COMMAND)
        target = folder / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(archive.open(info)) as file:
            write_atomically(target, file.read())
        count += 1
    return count


def _move(staged: Path, data: Path) -> None:
    remove_all(data)
    for path in staged.iterdir():
        path.replace(data / path.name)
    close_data_folder(data)
