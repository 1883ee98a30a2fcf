"""A process that is frozen within a transaction on Postgres, which ends it before others give up."""

import asyncio
from pathlib import Path

import pytest

from runtime.database.connections import BUSY_MILLISECONDS, IDLE_MILLISECONDS
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.durable.leases import LEASE_SECONDS
from runtime.usage.entry import Usage
from runtime.usage.log import UsageLog
from tests.databases.postgres import Cluster

pytestmark = pytest.mark.anyio


def test_a_lock_is_kept_less_long_than_others_wait_for_it_and_than_a_lease() -> None:
    assert IDLE_MILLISECONDS < BUSY_MILLISECONDS
    assert IDLE_MILLISECONDS < LEASE_SECONDS * 1000


async def test_the_usage_of_others_is_recorded_though_one_is_frozen_within_its_transaction(
    postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.schema()
    frozen, other = Database(url, tmp_path), Database(url, tmp_path)
    used = Usage.of(input_tokens=1, output_tokens=1, requests=1)
    log = UsageLog(other)
    log.record("ada", {"m": used})
    assert await log.today("ada") == used
    locked, is_recorded = asyncio.Event(), asyncio.Event()

    async def freeze() -> None:
        async with frozen.writing() as connection:
            from runtime.usage.rows import _increased  # pyright: ignore[reportPrivateUsage]  (the statement that was frozen)

            assert await _increased(connection, ("ada", log.clock().date().isoformat(), "m"), used)
            locked.set()
            await is_recorded.wait()

    task = asyncio.create_task(freeze())
    await locked.wait()
    log.record("ada", {"m": used})
    assert await log.today("ada") == used + used
    is_recorded.set()
    with pytest.raises(StoreUnavailable):
        await task
    await frozen.aclose()
    await other.aclose()
