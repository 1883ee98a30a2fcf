"""Imports what a user had elsewhere, or here before: as it is where it can be, under new ids where they are taken.

The rows are brought to the current schema in a database of their own, so that an archive of an earlier version is
imported as well.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from sqlalchemy import Connection, String, Table, create_engine, insert, select
from sqlalchemy.exc import IntegrityError

from flows.json_values import as_object, as_text
from runtime.archive.errors import ArchiveError, not_an_archive
from runtime.archive.folder import is_ours
from runtime.archive.owned import OWNER, Places, count_rows, owned_tables
from runtime.archive.restore import filled
from runtime.archive.rows import numbered_by
from runtime.archive.sealed_values import closed
from runtime.archive.user_data import COMMAND, FILES, KIND, SECRETS, ProviderValues, UserArchive
from runtime.archive.zipped import TABLES, reading
from runtime.database.backends.urls import sqlite_url
from runtime.database.base import REFERS
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.database.tables import Base
from runtime.files.atomic import write_atomically
from runtime.keychain.documents import DocumentSealing
from runtime.keychain.user_variables import UserVariables


async def import_user(database: Database, data: Path, user: str, path: Path) -> tuple[UserArchive, ProviderValues]:
    """Store what an archive of a user holds as what a user has here, who has nothing yet.

    Args:
        database: the database.
        data: the data folder.
        user: the user's id.
        path: the archive.

    Returns:
        What was stored, and the keys of providers, which are to be stored.

    Raises:
        ArchiveError: the archive cannot be used, or the user has something already; nothing was stored.
        StoreUnavailable: the database cannot be written; nothing was stored.
        OSError: a file cannot be read or written.
    """
    with reading(path, KIND, COMMAND) as (archive, manifest), tempfile.TemporaryDirectory() as folder:
        names = [name for name in archive.namelist() if name.startswith(FILES)]
        tables = {name.removeprefix(TABLES).removesuffix(".jsonl") for name in archive.namelist()}
        if not all(is_ours(f"users/{name}") for name in names) or not as_object(manifest.get("rows")).keys() <= tables:
            raise not_an_archive(COMMAND)
        current = Path(folder) / "current.db"
        await _bring_up_to_date(archive, as_text(manifest.get("schema")), current, database.documents)
        places = await asyncio.to_thread(Places.of, data, user)
        if any(places.files.iterdir()):
            raise _not_empty()
        try:
            async with database.writing(user) as connection:
                rows = await connection.run_sync(_add_all, current, user)
        except StoreUnavailable as failure:
            if not isinstance(failure.__cause__, IntegrityError):
                raise
            raise ArchiveError(
                "taken", "something in it is stored here as another user's.", "Delete that user's data first."
            ) from failure
        secrets = json.loads(archive.read(SECRETS))
        await asyncio.to_thread(_write_files, archive, names, places.files)
        variables = {name: value for name, value in secrets["variables"].items() if value is not None}
        if variables:
            await UserVariables(database, user).keep(variables)
        found = UserArchive(rows=rows, files=len(names), secrets=bool(manifest.get("secrets")))
        return found, _with_values(secrets["providers"])


def _with_values(providers: dict[str, dict[str, str | None]]) -> ProviderValues:
    given = {
        provider: {name: value for name, value in values.items() if value is not None}
        for provider, values in providers.items()
    }
    return {provider: values for provider, values in given.items() if values}


async def _bring_up_to_date(archive: zipfile.ZipFile, revision: str, file: Path, documents: DocumentSealing) -> None:
    """Make a database with the rows of an archive, encrypted with the key of this installation."""
    names = [name for name in archive.namelist() if name.startswith(TABLES)]
    tables = [name.removeprefix(TABLES).removesuffix(".jsonl") for name in names]

    def rows(table: str) -> Iterable[dict[str, Any]]:
        with archive.open(f"{TABLES}{table}.jsonl") as lines:
            for line in lines:
                values = {column: closed(value, documents) for column, value in json.loads(line).items()}
                yield {**values, OWNER: ""}

    await filled(sqlite_url(file), revision, tables, rows, documents)


@dataclass
class _Import:
    """Rows on their way into a database.

    Attributes:
        owner: their owner there.
        renamed: the new ids and numbers, by table.
    """

    owner: str
    renamed: dict[str, dict[Any, Any]] = field(default_factory=dict[str, dict[Any, Any]])

    def add(self, source: Connection, target: Connection, table: Table) -> int:
        """Add the rows of a table; returns how many."""
        number, name = numbered_by(table), _named_by(table)
        kept = self.renamed.setdefault(table.name, {})
        count = 0
        for row in source.execute(select(table).order_by(*table.primary_key.columns)).mappings():
            values: dict[str, Any] = {str(column): value for column, value in row.items()}
            before = values.pop(number) if number is not None else None
            if name is not None and _is_taken(target, table, values[name]):
                kept[values[name]] = values[name] = str(uuid4())
            values = {**values, **self._references(table, values), OWNER: self.owner}
            if number is None:
                target.execute(insert(table).values(values))
            else:
                kept[before] = target.execute(insert(table).values(values).returning(table.c[number])).scalar_one()
            count += 1
        return count

    def _references(self, table: Table, values: dict[str, Any]) -> dict[str, Any]:
        referring = {name: self.renamed.get(other, {}) for name, other in references(table.name).items()}
        return {name: renamed.get(values[name], values[name]) for name, renamed in referring.items()}


def references(table: str) -> dict[str, str]:
    """The columns of a table that refer to rows of others, each with the name of the other table."""
    known = Base.metadata.tables.get(table)
    if known is None:
        return {}
    return {column.name: column.info[REFERS] for column in known.columns if REFERS in column.info}


def _add_all(target: Connection, current: Path, user: str) -> dict[str, int]:
    if count_rows(target, user):
        raise _not_empty()
    adding, tables, counts = _Import(user), owned_tables(target), dict[str, int]()
    with create_engine(f"sqlite:///{current}").connect() as source:
        for table in _referred_first(tables):
            count = adding.add(source, target, table)
            if count:
                counts[table.name] = count
    return counts


def _referred_first(tables: dict[str, Table]) -> list[Table]:
    """The tables, each after those that it refers to."""
    done: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in done or name in above or name not in tables:
            return
        for other in references(name).values():
            visit(other, (*above, name))
        done.append(name)

    for name in tables:
        visit(name, ())
    return [tables[name] for name in done]


def _named_by(table: Table) -> str | None:
    """The column with ids that are unique for all owners; None in a table with another key."""
    keys = list(table.primary_key.columns)
    return keys[0].name if len(keys) == 1 and isinstance(keys[0].type, String) else None


def _is_taken(connection: Connection, table: Table, value: object) -> bool:
    (key,) = table.primary_key.columns
    return connection.execute(select(key).where(key == value)).first() is not None


def _write_files(archive: zipfile.ZipFile, names: list[str], folder: Path) -> None:
    for name in names:
        target = folder / name.removeprefix(FILES)
        for parent in reversed(target.relative_to(folder).parents):
            (folder / parent).mkdir(mode=0o700, exist_ok=True)
        write_atomically(target, archive.read(name))


def _not_empty() -> ArchiveError:
    return ArchiveError(
        "not_empty", "the user has something stored already.", "Write --as with another name, or delete the user first."
    )


def user_in(path: Path) -> tuple[str, list[str]]:
    """The name and the scopes of the user in an archive.

    Raises:
        ArchiveError: the archive cannot be used.
        OSError: it cannot be read.
    """
    with reading(path, KIND, COMMAND) as (_, manifest):
        found = cast("dict[str, Any]", manifest["user"])
        return str(found["name"]), [str(scope) for scope in found["scopes"]]
