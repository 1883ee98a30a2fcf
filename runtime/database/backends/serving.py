"""Which servers use a database: an SQLite file one, whose lock ends with its process; Postgres any number."""

from __future__ import annotations

import os
from typing import Final

from runtime.database.backends.urls import is_sqlite, search_path, sqlite_file
from runtime.database.errors import DatabaseReadOnly, StoreUnavailable
from runtime.files.lock import FileLock

SUFFIX = ".serving.lock"
"""What is added to the name of the database."""

SERVER: Final = "wirewright serving"
"""How Postgres is told the connections of servers and workers; the schema of their tables follows."""

_VARIABLE: Final = "PGAPPNAME"
"""The variable of Postgres's own library for the name of a process."""


class AlreadyServed(StoreUnavailable):
    """Another server uses the database."""

    def __init__(self) -> None:
        super().__init__(
            "Another server uses this database. An SQLite file is for one server.",
            "Stop the other server, give this one its own WIREWRIGHT_DATA, or let both use Postgres: DATABASE_URL.",
        )


def hold_for_serving(url: str) -> FileLock | None:
    """Take the lock of a database's server; commands need none. It blocks for a moment.

    Args:
        url: the database; only an SQLite file has such a lock.

    Returns:
        The lock, to be released.

    Raises:
        AlreadyServed: another server has it.
        DatabaseReadOnly: its file cannot be created.
    """
    file = sqlite_file(url)
    if file is None:
        return None
    real = file.resolve()
    lock = FileLock(real.with_name(f"{real.name}{SUFFIX}"))
    try:
        if not lock.try_acquire():
            raise AlreadyServed
    except OSError as failure:
        raise DatabaseReadOnly from failure
    return lock


def name_connections(url: str) -> None:
    """Let this process's connections to a Postgres database say that it serves, unless they have a name already."""
    if not is_sqlite(url):
        given = os.environ.get(_VARIABLE, SERVER)
        if given.startswith(SERVER):
            os.environ[_VARIABLE] = connection_name(url)


def connection_name(url: str) -> str:
    """The name of the connections of servers and workers that use a Postgres database."""
    return f"{SERVER} {search_path(url) or 'public'}"[:63]  # Postgres cuts it there
