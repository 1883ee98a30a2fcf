"""One server at a time on an SQLite file: the lock ends with its process, however that ends."""

from __future__ import annotations

from runtime.database.backends.urls import sqlite_file
from runtime.database.errors import DatabaseReadOnly, StoreUnavailable
from runtime.files.lock import FileLock

SUFFIX = ".serving.lock"
"""What is added to the name of the database."""


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
