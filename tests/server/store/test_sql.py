"""Flows in SQLite: versions, losslessness, owners, two writers and restarts."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from flows.document import Flow, JsonObject
from runtime.database.database import Database
from server.store.flows import FlowNotStored, FlowStore, VersionConflict
from server.store.sql import SqlFlowStore

pytestmark = pytest.mark.anyio


def url(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / 'deep' / 'flows.db'}"


@asynccontextmanager
async def opened(folder: Path, owner: str = "ada") -> AsyncGenerator[FlowStore]:
    database = Database(url(folder))
    try:
        yield SqlFlowStore(database, owner)
    finally:
        await database.aclose()


def named(name: str) -> Flow:
    return Flow.from_json({"name": name, "data": {"nodes": [], "edges": []}})


async def test_a_flow_comes_back_as_it_was_stored(tmp_path: Path, echo: JsonObject) -> None:
    document = {**echo, "x-unknown": {"deep": [1, 2.5, None, "é\u2028", "half \ud800"]}, "id": "its own"}
    async with opened(tmp_path) as store:
        entry = await store.add(Flow.from_json(document))
        assert (entry.version, entry.name, entry.node_count, entry.edge_count) == (1, "Echo", 2, 1)
    async with opened(tmp_path) as store:
        stored = await store.get(entry.id)
    assert stored.entry == entry
    assert stored.flow.to_json() == document


async def test_a_change_counts_the_version_and_a_stale_one_is_refused(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        entry = await store.add(named("one"))
        second = await store.replace(entry.id, named("two"), 1)
        assert (second.version, second.name) == (2, "two")
        with pytest.raises(VersionConflict) as conflict:
            await store.replace(entry.id, named("three"), 1)
        assert conflict.value.current == 2
        assert (await store.get(entry.id)).flow == named("two")


async def test_of_two_changes_on_one_version_exactly_one_is_kept(tmp_path: Path) -> None:
    async with opened(tmp_path) as store, opened(tmp_path) as other:
        entry = await store.add(named("start"))
        writers = [store if number % 2 else other for number in range(8)]
        done = await asyncio.gather(
            *(writer.replace(entry.id, named(str(number)), 1) for number, writer in enumerate(writers)),
            return_exceptions=True,
        )
        kept = [outcome for outcome in done if not isinstance(outcome, BaseException)]
        assert len(kept) == 1
        assert sum(isinstance(outcome, VersionConflict) for outcome in done) == 7
        assert (await store.get(entry.id)).entry == kept[0]


async def test_a_missing_flow_and_a_stale_one_are_different_errors(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        for missing in (store.get("x"), store.remove("x"), store.replace("x", named("y"), 1)):
            with pytest.raises(FlowNotStored):
                await missing
        entry = await store.add(named("gone"))
        await store.remove(entry.id)
        with pytest.raises(FlowNotStored):
            await store.get(entry.id)


async def test_pages_list_the_last_changed_first(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        entries = [await store.add(named(f"flow {number}")) for number in range(5)]
        await store.replace(entries[0].id, named("changed"), 1)
        everything, total = await store.page(10, 0)
        assert total == 5
        assert everything[0].name == "changed"
        assert {entry.id for entry in everything} == {entry.id for entry in entries}
        first, second = (await store.page(3, 0))[0], (await store.page(3, 3))[0]
        assert [*first, *second] == everything
        assert await store.page(3, 99) == ([], 5)


async def test_the_flows_of_other_owners_do_not_exist(tmp_path: Path) -> None:
    async with opened(tmp_path, "ada") as hers, opened(tmp_path, "bob") as his:
        entry = await hers.add(named("hers"))
        assert await his.page(10, 0) == ([], 0)
        for refused in (his.get(entry.id), his.remove(entry.id), his.replace(entry.id, named("his"), 1)):
            with pytest.raises(FlowNotStored):
                await refused
        assert (await hers.get(entry.id)).entry == entry
