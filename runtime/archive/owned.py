"""What one user has: the rows with the user as their owner, and files, variables and keys in the data folder."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Table, delete, func, select

from runtime.archive.rows import reflected
from runtime.database.secrets.files import BACKUP, ENDING, FIRST_PROVIDERS
from runtime.files.folders import LOCAL_USER, USERS, user_folder
from runtime.files.undo import undo_folder

OWNER = "owner"
"""The column that every table of what users have must have."""


@dataclass(frozen=True)
class Places:
    """Where a user's things stand in the data folder.

    Attributes:
        files: the folder of files and components.
        variables: where earlier versions kept variables.
        providers: where they kept keys of providers.
        undo: where files are kept as they were, while a durable turn changes them.
    """

    files: Path
    variables: Path
    providers: Path
    undo: Path

    @classmethod
    def of(cls, data: Path, user: str) -> Places:
        """The places of the user with an id. It blocks for a moment."""
        name = user_folder(data, user).name
        first = user == LOCAL_USER
        providers = data / FIRST_PROVIDERS if first else data / "providers" / f"{name}{ENDING}"
        return cls(data / USERS / name, data / "variables" / f"{name}{ENDING}", providers, undo_folder(data, user))


def owned_tables(connection: Connection) -> dict[str, Table]:
    """The tables whose rows have owners, whichever a database has."""
    return {name: table for name, table in reflected(connection).items() if OWNER in table.columns}


def count_rows(connection: Connection, user: str) -> dict[str, int]:
    """How many rows a user has, by table."""
    counted = {
        name: connection.execute(select(func.count()).select_from(table).where(table.c.owner == user)).scalar_one()
        for name, table in owned_tables(connection).items()
    }
    return {name: count for name, count in counted.items() if count}


def delete_rows(connection: Connection, user: str) -> dict[str, int]:
    """Delete every row of a user; returns how many, by table."""
    deleted = {
        name: connection.execute(delete(table).where(table.c.owner == user)).rowcount
        for name, table in owned_tables(connection).items()
    }
    return {name: count for name, count in deleted.items() if count}


def delete_files(data: Path, user: str) -> int:
    """Delete a user's files and components, and the backups of what is in the database now; returns how many files."""
    places, count = Places.of(data, user), 0
    for path in sorted(places.files.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
            count += 1
    places.files.rmdir()
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(places.undo)
    kept = (places.variables, places.providers)
    for path in (*kept, *(path.with_name(path.name + BACKUP) for path in kept), places.variables.with_suffix(".lock")):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
            count += path.suffix != ".lock"
    return count
