"""A backup of everything that is stored: the rows of the database as of one moment, and the files of the data folder.

It is taken while servers and commands go on writing, from any schema, and restored to SQLite or Postgres.
"""

from __future__ import annotations

import contextlib
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Final, Literal

from sqlalchemy.ext.asyncio import AsyncEngine

from flows.document import JsonObject
from runtime.archive.folder import contents
from runtime.archive.rows import in_order, reflected, snapshot, write_rows
from runtime.archive.zipped import DATA, TABLES, add_manifest, writing
from runtime.database import schema
from runtime.database.connections import opened_engine
from runtime.database.database import Database
from runtime.keychain.master_key import source

KIND: Final = "wirewright backup"
COMMAND: Final = "wirewright backup FILE"


@dataclass(frozen=True, kw_only=True)
class BackedUp:
    """What an archive holds.

    Attributes:
        rows: how many rows, by table.
        files: how many files of the data folder.
        schema: the revision of the database.
        secret_key: where the key comes from with which what is secret was encrypted; only one in a file is inside.
    """

    rows: dict[str, int]
    files: int
    schema: str
    secret_key: Literal["environment", "keyring", "file"]


async def back_up(url: str, data: Path, path: Path) -> BackedUp:
    """Write a backup.

    Args:
        url: the database.
        data: the data folder.
        path: the archive; an existing file is replaced when the new one is complete.

    Raises:
        StoreUnavailable: the database cannot be read.
        OSError: the archive cannot be written.
    """
    await _with_schema(url, data)
    async with opened_engine(url) as engine:
        with writing(path) as archive:
            revision, rows = await _tables(engine, archive)
            done = BackedUp(rows=rows, files=_files(data, archive), schema=revision, secret_key=source())
            facts: JsonObject = {
                "created_at": datetime.now(UTC).isoformat(),
                "wirewright": metadata.version("wirewright"),
                "schema": revision,
                "database": engine.dialect.name,
                "secret_key": done.secret_key,
                "rows": {**rows},
            }
            add_manifest(archive, KIND, facts)
    return done


async def _with_schema(url: str, data: Path) -> None:
    """Create the tables of an empty database, and take over that of version 0.1; a later one stays as it is."""
    from runtime.database.migrations.pending import pending

    if (await pending(url)).revision in (None, schema.VERSION_0_1):
        database = Database(url, data, migrates=True)
        try:
            await database.open()
        finally:
            await database.aclose()


async def _tables(engine: AsyncEngine, archive: zipfile.ZipFile) -> tuple[str, dict[str, int]]:
    rows: dict[str, int] = {}
    async with snapshot(engine) as connection:
        revision = await connection.run_sync(schema.revision)
        for name, table in (await connection.run_sync(reflected)).items():
            with archive.open(f"{TABLES}{name}.jsonl", "w", force_zip64=True) as file:
                rows[name] = await write_rows(connection, in_order(table), file)
    return revision or schema.HEAD, rows


def _files(data: Path, archive: zipfile.ZipFile) -> int:
    count = 0
    for name, path in contents(data):
        with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
            archive.write(path, f"{DATA}{name}")
            count += 1
    return count
