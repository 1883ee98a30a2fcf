"""Whether servers use a database that is to be replaced."""

from __future__ import annotations

from typing import Final

from sqlalchemy import text

from runtime.database.backends.serving import connection_name
from runtime.database.backends.urls import is_sqlite
from runtime.database.connections import opened_engine
from runtime.database.errors import StoreUnavailable

_SERVED: Final = text(
    "SELECT 1 FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = :name AND pid <> pg_backend_pid() LIMIT 1"
)


class BeingServed(StoreUnavailable):
    """A server or worker uses the database."""

    def __init__(self) -> None:
        super().__init__("A server uses this database.", "Stop the servers and workers, then restore again.")


async def refuse_while_served(url: str) -> None:
    """Refuse to replace a Postgres database to which a server or worker has a connection; a pooler may hide it.

    Raises:
        BeingServed: there is one.
        StoreUnavailable: it cannot be read.
    """
    if is_sqlite(url):
        return  # which has a lock
    async with opened_engine(url) as engine, engine.connect() as connection:
        if (await connection.execute(_SERVED, {"name": connection_name(url)})).first() is not None:
            raise BeingServed
