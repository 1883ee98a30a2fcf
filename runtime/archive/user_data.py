"""Exports what one user has, and deletes it: rows, files, components, variables and keys of providers."""

from __future__ import annotations

import asyncio
import json
import logging
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Final

from sqlalchemy import delete
from sqlalchemy.exc import SQLAlchemyError

from flows.document import Json
from runtime.accounts.user import User
from runtime.archive.folder import within
from runtime.archive.owned import OWNER, Places, delete_files, delete_rows, owned_tables
from runtime.archive.rows import in_order, snapshot, write_rows
from runtime.archive.sealed_values import opened
from runtime.archive.zipped import TABLES, add_manifest, writing
from runtime.database.database import Database
from runtime.database.errors import unavailable
from runtime.database.schema import HEAD
from runtime.database.sealed_rows import erase_what_was_replaced
from runtime.database.tables import SecretRow, UserRow
from runtime.durable.records import remove_records
from runtime.keychain.user_variables import UserVariables

KIND: Final = "wirewright user"
COMMAND: Final = "wirewright users export NAME --out FILE"
FILES: Final = "files/"
SECRETS: Final = "secrets.json"

log = logging.getLogger(__name__)

ProviderValues = Mapping[str, Mapping[str, str]]
"""Stored values of a user by provider and variable."""


@dataclass(frozen=True, kw_only=True)
class UserArchive:
    """What an archive of a user holds, or what was deleted.

    Attributes:
        rows: how many rows, by table; tables without any are left out.
        files: how many files.
        secrets: whether variables and keys are inside, in the clear.
    """

    rows: dict[str, int]
    files: int
    secrets: bool = False


async def export_user(
    database: Database, data: Path, user: User, path: Path, *, providers: ProviderValues, secrets: bool = False
) -> UserArchive:
    """Write what a user has into an archive that another installation can import.

    Args:
        database: the database.
        data: the data folder.
        user: the user.
        path: the archive.
        providers: the stored keys of the user.
        secrets: whether variables, keys of providers and keys in flows are inside, in the clear; otherwise only the
            names of variables and providers are.

    Raises:
        StoreUnavailable: something cannot be read, or was encrypted with another key.
        OSError: the archive cannot be written.
    """
    variables = await UserVariables(database, user.id).values()
    engine, documents = await database.open(), database.documents
    rows: dict[str, int] = {}

    def encode(column: str, value: object) -> Json:
        return None if column == OWNER else opened(column, value, documents, secrets=secrets)

    try:
        with writing(path) as archive:
            async with snapshot(engine) as connection:
                for name, table in (await connection.run_sync(owned_tables)).items():
                    if name == SecretRow.__tablename__:
                        continue  # by name, in a file of their own
                    mine = in_order(table).where(table.c.owner == user.id)
                    with archive.open(f"{TABLES}{name}.jsonl", "w", force_zip64=True) as file:
                        count = await write_rows(connection, mine, file, encode)
                    if count:
                        rows[name] = count
            files = await asyncio.to_thread(_add_files, archive, data, user.id)
            _add_secrets(archive, variables, providers, secrets=secrets)
            add_manifest(
                archive,
                KIND,
                {
                    "created_at": datetime.now(UTC).isoformat(),
                    "wirewright": metadata.version("wirewright"),
                    "schema": HEAD,
                    "user": {"name": user.name, "scopes": [*user.scope_names]},
                    "secrets": secrets,
                    "rows": {**rows},
                },
            )
    except SQLAlchemyError as failure:
        raise unavailable(failure) from failure
    return UserArchive(rows=rows, files=files, secrets=secrets)


def _add_files(archive: zipfile.ZipFile, data: Path, user: str) -> int:
    count = 0
    for name, path in within(Places.of(data, user).files, FILES.rstrip("/")):
        try:
            archive.write(path, name)
        except FileNotFoundError:  # it was removed meanwhile
            continue
        count += 1
    return count


def _add_secrets(
    archive: zipfile.ZipFile, variables: Mapping[str, str], providers: ProviderValues, *, secrets: bool
) -> None:
    """Add the names of what the user keeps secret, and the values when they are asked for."""
    kept = {
        "variables": {name: value if secrets else None for name, value in variables.items()},
        "providers": {
            provider: {name: value if secrets else None for name, value in values.items()}
            for provider, values in providers.items()
        },
    }
    archive.writestr(SECRETS, json.dumps(kept, indent=2))


async def delete_user(database: Database, data: Path, user: str) -> UserArchive:
    """Delete a user with everything that the user has; the first user stays, without anything.

    Args:
        database: the database.
        data: the data folder.
        user: the user's id.

    Raises:
        StoreUnavailable: the database cannot be written; it may be asked for again.
        OSError: a file cannot be deleted; it may be asked for again.
    """
    async with database.writing(user) as connection:
        await connection.execute(delete(UserRow).where(UserRow.id == user))  # nobody signs in from here on
        rows = await connection.run_sync(delete_rows, user)
    await remove_records(database.url, user)
    files = await asyncio.to_thread(delete_files, data, user)
    try:
        await erase_what_was_replaced(await database.open())
    except SQLAlchemyError:
        log.warning("database.deleted_rows_not_erased: another process uses the database; `VACUUM` erases them")
    return UserArchive(rows=rows, files=files)
