"""Flows in SQLite and Postgres: versions, losslessness, owners, two writers and restarts."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from flows.document import Flow, JsonObject
from flows.json_values import as_list, as_object, object_at
from runtime.database.database import Database
from server.store.flows import FlowNotStored, FlowStore, RevisionNotKept, TooManyFlows, VersionConflict
from server.store.sql import SqlFlowStore

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def opened(url: str, owner: str = "ada") -> AsyncGenerator[FlowStore]:
    database = Database(url)
    try:
        yield SqlFlowStore(database, owner)
    finally:
        await database.aclose()


def named(name: str) -> Flow:
    return Flow.from_json({"name": name, "data": {"nodes": [], "edges": []}})


async def test_a_flow_comes_back_as_it_was_stored(database_url: str, echo: JsonObject) -> None:
    document = {**echo, "x-unknown": {"deep": [1, 2.5, None, "é\u2028", "half \ud800"]}, "id": "its own"}
    async with opened(database_url) as store:
        entry = await store.add(Flow.from_json(document))
        assert (entry.version, entry.name, entry.node_count, entry.edge_count) == (1, "Echo", 2, 1)
    async with opened(database_url) as store:
        stored = await store.get(entry.id)
    assert stored.entry == entry
    assert stored.flow.to_json() == document


async def test_a_flow_with_a_key_is_not_kept_in_memory_once_it_was_read(database_url: str, echo: JsonObject) -> None:
    field: JsonObject = {"type": "str", "password": True, "value": "sk-of-nobody-else"}
    keyed: JsonObject = json.loads(json.dumps(echo))
    object_at(as_object(as_list(as_object(keyed["data"])["nodes"])[0]), "data", "node", "template")["api_key"] = field
    async with opened(database_url) as store:
        plain, secret = await store.add(Flow.from_json(echo)), await store.add(Flow.from_json(keyed))
        assert (await store.get(plain.id)).flow is (await store.get(plain.id)).flow
        assert (await store.get(secret.id)).flow is not (await store.get(secret.id)).flow
        assert (await store.get(secret.id)).flow.to_json() == keyed


async def test_a_change_counts_the_version_and_a_stale_one_is_refused(database_url: str) -> None:
    async with opened(database_url) as store:
        entry = await store.add(named("one"))
        second = await store.replace(entry.id, named("two"), 1)
        assert (second.version, second.name) == (2, "two")
        with pytest.raises(VersionConflict) as conflict:
            await store.replace(entry.id, named("three"), 1)
        assert conflict.value.current == 2
        assert (await store.get(entry.id)).flow == named("two")


async def test_of_two_changes_on_one_version_exactly_one_is_kept(database_url: str) -> None:
    async with opened(database_url) as store, opened(database_url) as other:
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


async def test_servers_that_store_flows_of_one_user_at_once_keep_the_limit(database_url: str) -> None:
    databases = [Database(database_url) for _ in range(4)]
    for database in databases:
        await database.open()
    for owner in map(str, range(10)):
        stores = [SqlFlowStore(database, owner, limit=1) for database in databases]
        done = await asyncio.gather(*(store.add(named("one")) for store in stores), return_exceptions=True)
        assert sum(isinstance(outcome, TooManyFlows) for outcome in done) == 3, done
        assert (await stores[0].page(10, 0))[1] == 1
    for database in databases:
        await database.aclose()


async def test_a_missing_flow_and_a_stale_one_are_different_errors(database_url: str) -> None:
    async with opened(database_url) as store:
        for missing in (store.get("x"), store.remove("x"), store.replace("x", named("y"), 1)):
            with pytest.raises(FlowNotStored):
                await missing
        entry = await store.add(named("gone"))
        await store.remove(entry.id)
        with pytest.raises(FlowNotStored):
            await store.get(entry.id)


async def test_pages_list_the_last_changed_first(database_url: str) -> None:
    async with opened(database_url) as store:
        entries = [await store.add(named(f"flow {number}")) for number in range(5)]
        await store.replace(entries[0].id, named("changed"), 1)
        everything, total = await store.page(10, 0)
        assert total == 5
        assert everything[0].name == "changed"
        assert {entry.id for entry in everything} == {entry.id for entry in entries}
        first, second = (await store.page(3, 0))[0], (await store.page(3, 3))[0]
        assert [*first, *second] == everything
        assert await store.page(3, 99) == ([], 5)


async def test_the_flows_of_other_owners_do_not_exist(database_url: str) -> None:
    async with opened(database_url, "ada") as hers, opened(database_url, "bob") as his:
        entry = await hers.add(named("hers"))
        assert await his.page(10, 0) == ([], 0)
        for refused in (his.get(entry.id), his.remove(entry.id), his.replace(entry.id, named("his"), 1)):
            with pytest.raises(FlowNotStored):
                await refused
        assert (await hers.get(entry.id)).entry == entry


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("echo", ["ECHO one", "echo %"]),
        ("%", ["echo %"]),
        ("ärger", ["ÄRGER_x"]),
        ("_", ["ÄRGER_x"]),
        ("\\", []),
        ("x\0", []),
    ],
)
async def test_a_name_is_found_whatever_its_case_on_any_database(
    database_url: str, text: str, names: list[str]
) -> None:
    async with opened(database_url) as store:
        for name in ("ECHO one", "echo %", "ÄRGER_x"):
            await store.add(named(name))
        found, total = await store.page(10, 0, text)
        assert (sorted(entry.name for entry in found), total) == (names, len(names))


async def test_a_name_with_characters_that_a_database_refuses_is_stored_without_them(database_url: str) -> None:
    async with opened(database_url) as store:
        entry = await store.add(named("a\0b \ud800"))
        stored = await store.get(entry.id)
        assert stored.entry.name.startswith("a\ufffdb ")
        assert stored.flow == named("a\0b \ud800")


async def test_a_version_beyond_every_number_is_a_conflict(database_url: str) -> None:
    async with opened(database_url) as store:
        entry = await store.add(named("one"))
        for version in (2**31, 2**53):
            with pytest.raises(VersionConflict):
                await store.replace(entry.id, named("two"), version)
            with pytest.raises(RevisionNotKept):
                await store.at_version(entry.id, version)
        assert await store.page(10, 2**40) == ([], 1)
