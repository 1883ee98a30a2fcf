"""Reading a stored flow: at once where SQLite has it, and as it is at that moment."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from flows.document import Flow
from runtime.database.database import Database
from runtime.database.errors import DatabaseGone
from server.store.flows import FlowNotStored
from server.store.sql import SqlFlowStore

pytestmark = pytest.mark.anyio


class Counted(Database):
    """Counts how often SQLAlchemy is asked, which takes trips to a thread."""

    asked = 0

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[AsyncConnection]:
        """Count, and read."""
        self.asked += 1
        async with super().reading() as connection:
            yield connection


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Counted]:
    database = Counted(f"sqlite+aiosqlite:///{tmp_path / 'flows.db'}")
    yield database
    await database.aclose()


def of(nodes: int) -> Flow:
    """A flow of so many nodes."""
    made = [{"id": f"n{number}", "type": "genericNode", "data": {"type": "X"}} for number in range(nodes)]
    return Flow.from_json({"name": f"of {nodes}", "data": {"nodes": made, "edges": []}})


def unlink_all(folder: Path) -> None:
    """Remove the database with what belongs to it."""
    for path in folder.glob("flows.db*"):
        path.unlink()


async def test_a_small_flow_is_read_without_a_trip_to_a_thread(database: Counted) -> None:
    store = SqlFlowStore(database, "ada")
    small, large = [await store.add(of(nodes)) for nodes in (12, 13)]
    before = database.asked
    assert (await store.get(small.id)).entry == small
    assert (await store.get(small.id)).flow == of(12)
    assert database.asked == before
    assert (await store.get(large.id)).entry == large
    assert (await store.get(large.id)).flow == of(13)
    assert database.asked == before + 2, "a large one may keep the loop from its work"


async def test_a_flow_is_read_as_others_left_it(database: Counted) -> None:
    store, other = SqlFlowStore(database, "ada"), SqlFlowStore(Database(database.url), "ada")
    entry = await store.add(of(1))
    assert (await store.get(entry.id)).flow == of(1)
    await other.replace(entry.id, of(2), entry.version)
    found = await store.get(entry.id)
    assert (found.entry.version, found.flow) == (2, of(2))
    await other.remove(entry.id)
    with pytest.raises(FlowNotStored):
        await store.get(entry.id)


async def test_a_small_flow_is_its_owners_alone(database: Counted) -> None:
    entry = await SqlFlowStore(database, "ada").add(of(1))
    with pytest.raises(FlowNotStored):
        await SqlFlowStore(database, "eve").get(entry.id)


async def test_a_file_that_was_replaced_is_not_read_from(database: Counted, tmp_path: Path) -> None:
    store = SqlFlowStore(database, "ada")
    entry = await store.add(of(1))
    unlink_all(tmp_path)
    with pytest.raises(DatabaseGone):
        await store.get(entry.id)
