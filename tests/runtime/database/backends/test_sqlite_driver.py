"""SQLite by one trip a statement: what it gives is what SQLite gives, at fewer trips to the connection's thread."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from runtime.database.connections import create_engine

pytestmark = pytest.mark.anyio

TABLE = "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT UNIQUE)"

INSERT = "INSERT INTO words (word) VALUES (?)"
LETTERS = st.sampled_from("abcd")
STATEMENTS: st.SearchStrategy[list[tuple[str, tuple[str, ...]]]] = st.lists(
    st.one_of(
        st.tuples(st.just(INSERT), st.tuples(LETTERS)),
        st.tuples(st.just(f"{INSERT} RETURNING id, word"), st.tuples(st.text(max_size=3))),
        st.tuples(st.just("UPDATE words SET word = ? WHERE word = ?"), st.tuples(LETTERS, LETTERS)),
        st.sampled_from(
            [
                ("DELETE FROM words WHERE id % 2", ()),
                ("SELECT id, word FROM words ORDER BY id", ()),
                ("SELECT nothing FROM words", ()),
            ]
        ),
    ),
    max_size=12,
)


@asynccontextmanager
async def opened(place: str) -> AsyncGenerator[AsyncEngine]:
    engine = create_engine(place)
    try:
        async with engine.begin() as connection:
            await connection.execute(text(TABLE))
        yield engine
    finally:
        await engine.dispose()


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncGenerator[AsyncEngine]:
    async with opened(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}") as engine:
        yield engine


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the connections' threads are asked to do from now on."""
    made: list[str] = []
    execute: Any = vars(aiosqlite.Connection)["_execute"]

    async def counted(self: aiosqlite.Connection, function: Any, *args: Any, **kwargs: Any) -> Any:
        made.append(function.__name__)
        return await execute(self, function, *args, **kwargs)

    monkeypatch.setattr(aiosqlite.Connection, "_execute", counted)
    return made


async def words(engine: AsyncEngine) -> Sequence[str]:
    async with engine.connect() as connection:
        return (await connection.execute(text("SELECT word FROM words ORDER BY word"))).scalars().all()


async def test_a_read_is_one_trip(engine: AsyncEngine, trips: list[str]) -> None:
    await words(engine)
    assert len(trips) == 1


async def test_a_transaction_is_a_trip_for_each_statement_and_one_for_its_end(
    engine: AsyncEngine, trips: list[str]
) -> None:
    async with engine.begin() as connection:
        await connection.execute(text("INSERT INTO words (word) VALUES ('a')"))
        await connection.execute(text("INSERT INTO words (word) VALUES (:word)"), [{"word": "b"}, {"word": "c"}])
    assert trips[-1] == "commit"
    assert len(trips) == 3
    assert await words(engine) == ["a", "b", "c"]


async def test_nothing_of_a_failed_transaction_stays(engine: AsyncEngine) -> None:
    with pytest.raises(IntegrityError):
        async with engine.begin() as connection:
            await connection.execute(text("INSERT INTO words (word) VALUES ('a')"))
            await connection.execute(text("INSERT INTO words (word) VALUES ('a')"))
    assert await words(engine) == []
    async with engine.begin() as connection:  # and the connection can be used again
        await connection.execute(text("INSERT INTO words (word) VALUES ('b')"))
    assert await words(engine) == ["b"]


async def test_nothing_stays_of_a_statement_that_was_cancelled_while_the_thread_went_on(engine: AsyncEngine) -> None:
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT max(i) FROM n"

    async def write() -> None:
        async with engine.begin() as connection:
            await connection.execute(text(f"INSERT INTO words (word) SELECT ({slow})"))

    writing = asyncio.create_task(write())
    await asyncio.sleep(0.01)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await words(engine) == []


async def test_a_reader_leaves_no_transaction_open(engine: AsyncEngine, tmp_path: Path) -> None:
    await words(engine)
    with sqlite3.connect(tmp_path / "w.db", timeout=0) as other:
        other.execute("BEGIN EXCLUSIVE")


@settings(max_examples=40, deadline=None)
@given(STATEMENTS)
def test_statements_give_what_they_give_in_sqlite(statements: list[tuple[str, tuple[str, ...]]]) -> None:
    plain = sqlite3.connect(":memory:")
    plain.execute(TABLE)

    def expected() -> list[object]:
        return [outcome(partial(plain.execute, *each)) for each in statements]

    def outcome(execute: Any) -> object:
        try:
            cursor = execute()
        except sqlite3.Error as error:
            return type(error).__name__
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else cursor.rowcount

    async def found() -> list[object]:
        async with opened("sqlite+aiosqlite:///:memory:") as engine, engine.connect() as connection:
            return [await given_by(connection, *each) for each in statements]

    async def given_by(connection: AsyncConnection, statement: str, parameters: tuple[str, ...]) -> object:
        try:
            result = await connection.exec_driver_sql(statement, parameters)
        except (IntegrityError, OperationalError) as error:
            return type(error.orig).__name__
        return [tuple(row) for row in result.all()] if result.returns_rows else result.rowcount

    assert asyncio.run(found()) == expected()
    plain.close()
