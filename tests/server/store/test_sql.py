"""Flows in SQLite: versions, losslessness, two writers, restarts, and a database that cannot be had."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from flows.document import Flow, JsonObject
from server.store.flows import FlowNotStored, FlowStore, StoreUnavailable, VersionConflict, open_flow_store

pytestmark = pytest.mark.anyio


def url(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / 'deep' / 'flows.db'}"


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[FlowStore]:
    store = await open_flow_store(url(folder))
    try:
        yield store
    finally:
        await store.aclose()


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


async def test_a_flow_that_is_not_there_is_told_apart_from_a_stale_one(tmp_path: Path) -> None:
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


async def test_a_database_that_cannot_be_had_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "broken.db").write_bytes(b"no database at all" * 100)
    for place in (
        f"sqlite+aiosqlite:///{tmp_path / 'file' / 'flows.db'}",
        f"sqlite+aiosqlite:///{tmp_path / 'broken.db'}",
        "sqlite+nothing:///x",
        "what",
    ):
        with pytest.raises(StoreUnavailable):
            await open_flow_store(place)
