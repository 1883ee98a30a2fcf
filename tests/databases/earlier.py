"""Databases of earlier schemas."""

from pathlib import Path

from runtime.database.connections import create_engine, exclusive
from runtime.database.migrations import migrate
from runtime.keychain.documents import DocumentSealing


async def at_revision(url: str, revision: str, data: Path) -> None:
    """Make an empty database of an earlier schema.

    Args:
        url: the database.
        revision: the schema.
        data: the data folder.
    """
    engine = create_engine(url)
    try:
        async with exclusive(engine) as connection:
            create = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
            await connection.exec_driver_sql(create)
            await connection.run_sync(migrate, None, DocumentSealing(data), revision)
    finally:
        await engine.dispose()
