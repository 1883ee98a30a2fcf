"""Connections on the event loop: what is committed, what is not, and what is read in parts."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest
from sqlalchemy import column, insert, select, table, text

from runtime.database.backends.asynchronous import AsyncEngine
from runtime.database.connections import create_engine

pytestmark = pytest.mark.anyio

NUMBERS = table("numbers", column("n"))
IN_ORDER = select(NUMBERS.c.n).order_by(NUMBERS.c.n)


@pytest.fixture
async def engine() -> AsyncGenerator[AsyncEngine]:
    engine = create_engine("sqlite+aiosqlite://")
    async with engine.begin() as connection:
        await connection.execute(text("CREATE TABLE numbers (n INTEGER)"))
    yield engine
    await engine.dispose()


async def numbers(engine: AsyncEngine) -> list[int]:
    async with engine.connect() as connection:
        return list(await connection.scalars(IN_ORDER))


async def test_a_block_is_committed_at_its_end_and_not_when_it_fails(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        await connection.execute(insert(NUMBERS), [{"n": 1}, {"n": 2}])
    with pytest.raises(ZeroDivisionError):
        async with engine.begin() as connection:
            await connection.execute(insert(NUMBERS).values(n=3))
            raise ZeroDivisionError
    assert await numbers(engine) == [1, 2]


async def test_a_part_of_a_transaction_can_fail_alone(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        await connection.execute(insert(NUMBERS).values(n=1))
        with pytest.raises(ZeroDivisionError):
            async with connection.begin_nested():
                await connection.execute(insert(NUMBERS).values(n=2))
                raise ZeroDivisionError
        assert connection.in_transaction()
        assert await connection.scalar(IN_ORDER) == 1
    assert await numbers(engine) == [1]


async def test_what_is_neither_committed_nor_in_a_block_is_dropped(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        await connection.execute(insert(NUMBERS).values(n=1))
        await connection.commit()
        await connection.execute(insert(NUMBERS).values(n=2))
        await connection.rollback()
        await connection.execute(insert(NUMBERS).values(n=3))
    assert await numbers(engine) == [1]


async def test_rows_are_read_in_parts(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        await connection.execute(insert(NUMBERS), [{"n": n} for n in range(7)])
        async with aclosing(connection.batches(IN_ORDER, 3)) as batches:
            parts = [[row["n"] for row in batch] async for batch in batches]
    assert parts == [[0, 1, 2], [3, 4, 5], [6]]


async def test_a_connection_outside_of_its_block_says_so(engine: AsyncEngine) -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await engine.connect().execute(IN_ORDER)


async def test_the_connection_of_a_cancelled_task_can_be_used_again(engine: AsyncEngine) -> None:
    inside = asyncio.Event()

    async def work() -> None:
        async with engine.begin() as connection:
            await connection.execute(insert(NUMBERS).values(n=1))
            inside.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await numbers(engine) == []
