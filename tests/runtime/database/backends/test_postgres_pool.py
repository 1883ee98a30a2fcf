"""What connections to Postgres cost: none is tried that was used a moment ago, and reading begins no transaction."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from runtime.database.backends import postgres_pool
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from tests.databases.postgres import Cluster

pytestmark = pytest.mark.anyio
LONG = 1_000.0


@asynccontextmanager
async def opened(cluster: Cluster, folder: Path) -> AsyncGenerator[Database]:
    """An empty database, which is open."""
    database = Database(cluster.schema(), folder, migrates=True)
    await database.open()
    yield database
    await database.aclose()


async def one(database: Database) -> int:
    """Read something."""
    async with database.reading() as connection:
        return (await connection.execute(text("SELECT 1"))).scalar_one()


async def test_a_connection_is_tried_when_it_has_rested_and_not_before_each_use(
    postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(postgres, tmp_path) as database:
        dialect, tried = (await database.open()).sync_engine.dialect, list[Any]()
        ping = dialect.do_ping

        def counting(connection: Any) -> bool:
            tried.append(connection)
            return ping(connection)

        monkeypatch.setattr(dialect, "do_ping", counting)
        monkeypatch.setattr(postgres_pool, "RESTED_SECONDS", LONG)
        assert [await one(database) for _ in range(5)] == [1] * 5
        assert tried == []
        monkeypatch.setattr(postgres_pool, "RESTED_SECONDS", 0.0)
        assert [await one(database) for _ in range(5)] == [1] * 5
        assert len(tried) == 5


async def test_what_rested_while_postgres_was_started_again_is_made_again(
    own_postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails where nothing is tried: the first who reads is told that the database is unavailable."""
    async with opened(own_postgres, tmp_path) as database:
        for rested, fails in ((0.0, False), (LONG, True)):
            monkeypatch.setattr(postgres_pool, "RESTED_SECONDS", rested)
            async with database.reading(), database.reading():  # two connections, both of which are lost
                pass
            own_postgres.stop()
            own_postgres.start()
            if fails:
                with pytest.raises(StoreUnavailable):
                    await one(database)
            assert await one(database) == 1
            async with database.reading() as first, database.reading() as second:
                for each in (first, second):
                    assert (await each.execute(text("SELECT 1"))).scalar_one() == 1


async def test_statements_of_who_reads_are_alone_and_those_of_who_writes_are_not(
    postgres: Cluster, tmp_path: Path
) -> None:
    """A transaction has one time, that of its first statement."""
    async with opened(postgres, tmp_path) as database:
        for block, is_alone in ((database.reading, True), (database.writing, False), (database.reading, True)):
            async with block() as connection:
                times = {(await connection.execute(text("SELECT now()"))).scalar_one() for _ in range(2)}
            assert len(times) == (2 if is_alone else 1)
