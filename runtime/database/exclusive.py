"""A transaction for what must be checked and done at once by one of several processes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine


@asynccontextmanager
async def exclusive(engine: AsyncEngine) -> AsyncGenerator[AsyncConnection]:
    """A transaction that no other writer of an SQLite database runs beside, from its first statement on."""
    async with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            await connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection
        await connection.commit()
