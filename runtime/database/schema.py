"""Brings a database to the current schema when it is opened.

A current one costs one query. An empty one gets the tables as they are now, without Alembic; only one that is behind
is migrated, and only then Alembic is imported.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from sqlalchemy import Column, Connection, MetaData, String, Table, insert, inspect, select
from sqlalchemy.ext.asyncio import AsyncEngine

from runtime.database.exclusive import exclusive
from runtime.database.tables import Base
from runtime.database.version_0_1 import back_up, copy_flows, set_flows_aside

HEAD: Final = "0001"
"""The revision of `tables`: the last one of `migrations/versions`."""

VERSION_0_1: Final = "0.1"
"""Stands for the revision of a database of version 0.1, which has flows and no revision."""

_REVISION: Final = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


async def bring_up_to_date(engine: AsyncEngine) -> None:
    """Create or migrate the tables where they are not current; of several processes, one does it and the others wait.

    Args:
        engine: an open database.

    Raises:
        DatabaseTooNew: the schema is later than this version's.
    """
    async with engine.connect() as connection:
        if await connection.run_sync(revision) == HEAD:
            return
    async with exclusive(engine) as connection:
        found = await connection.run_sync(revision)
        if found in (None, VERSION_0_1):
            if found == VERSION_0_1:
                await asyncio.to_thread(back_up, engine.url)
                await connection.run_sync(set_flows_aside)
            await connection.run_sync(_create)
            if found == VERSION_0_1:
                await connection.run_sync(copy_flows)
        elif found != HEAD:
            await connection.run_sync(await asyncio.to_thread(_load_migrate), found)


def revision(connection: Connection) -> str | None:
    """The revision of a database's schema; None when it has no tables of ours."""
    tables = inspect(connection).get_table_names()
    if _REVISION.name in tables:
        return connection.execute(select(_REVISION.c.version_num)).scalar_one_or_none()
    return VERSION_0_1 if "flows" in tables else None


def _create(connection: Connection) -> None:
    Base.metadata.create_all(connection)
    _REVISION.create(connection, checkfirst=True)
    connection.execute(insert(_REVISION).values(version_num=HEAD))


def _load_migrate() -> Callable[[Connection, str | None], None]:
    from runtime.database.migrations import migrate

    return migrate
