"""What waits for an answer and what a client has made are in the database, where every server knows them."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.accounts.user import LOCAL
from runtime.database.database import Database
from server.mcp.consent import baselines as baselines_module
from server.mcp.consent.baselines import Base, Baselines
from server.mcp.consent.waiting import KEPT, SECONDS, Waiting, WaitingCalls
from server.store.flows import KEPT_REVISIONS
from server.store.sql import SqlFlowStore
from tests.databases.secrets import opened
from tests.databases.stored import query
from tests.server.mcp.clients import WITHOUT, Talk, talking
from tests.shared.flow_texts import LOUDER, flow_of
from tests.shared.scripted_assistant import assistant
from tools.approvals import RemovalApproval

pytestmark = pytest.mark.anyio
QUESTION = RemovalApproval(title="Delete the flow F", targets=["f"])
WAITING = Waiting(question=QUESTION, given=(QUESTION,), done=[{"tool": "create_flow", "ok": True, "result": {"n": 1}}])
CALL: tuple[str, dict[str, Any]] = ("delete_flow", {"flow_id": "f"})
AGREED = {"approval": types.ElicitResult(action="accept", content={"approve": True})}


class Clock:
    """A clock that tests set."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def two(database_url: str, tmp_path: Path) -> AsyncGenerator[tuple[Database, Database]]:
    """One database, as two servers have it open."""
    async with opened(database_url, tmp_path) as one, opened(database_url, tmp_path) as other:
        yield one, other


async def test_a_call_that_waits_is_taken_by_another_server_once(two: tuple[Database, Database]) -> None:
    name = await WaitingCalls(two[0]).add("ada", *CALL, WAITING)
    assert await WaitingCalls(two[1]).take(name, "ada", *CALL) == WAITING
    assert [await WaitingCalls(one).take(name, "ada", *CALL) for one in two] == [None, None]


async def test_of_answers_that_reach_several_servers_at_once_one_counts(two: tuple[Database, Database]) -> None:
    name = await WaitingCalls(two[0]).add("ada", *CALL, WAITING)
    taking = (WaitingCalls(one).take(name, "ada", *CALL) for one in two * 3)
    assert sorted(one is not None for one in await asyncio.gather(*taking)) == [False] * 5 + [True]


async def test_it_is_taken_by_its_user_for_the_same_call_in_time_alone(two: tuple[Database, Database]) -> None:
    clock = Clock()
    calls = WaitingCalls(two[0], clock)
    name = await calls.add("ada", *CALL, WAITING)
    assert await calls.take(name, "eve", *CALL) is None
    assert await calls.take(name, "ada", "delete_flow", {"flow_id": "g"}) is None
    assert await calls.take(name, "ada", *CALL) is None, "a wrong call has used it up"
    name = await calls.add("ada", *CALL, WAITING)
    clock.now += SECONDS
    assert await calls.take(name, "ada", *CALL) is None


async def test_what_waits_is_limited_and_ends(two: tuple[Database, Database], database_url: str) -> None:
    clock = Clock()
    calls = WaitingCalls(two[0], clock)
    names: list[str] = []
    for _ in range(KEPT + 2):
        clock.now += 1
        names.append(await calls.add("ada", *CALL, WAITING))
    found = [await calls.take(name, "ada", *CALL) for name in (*names[:3], names[-1])]
    assert [one is not None for one in found] == [False, False, True, True]
    clock.now += SECONDS
    await calls.add("eve", *CALL, WAITING)
    assert query(database_url, "select owner from mcp_calls") == [("eve",)]


async def test_neither_its_name_nor_its_text_is_readable_in_the_database(
    two: tuple[Database, Database], database_url: str
) -> None:
    name = await WaitingCalls(two[0]).add("ada", *CALL, WAITING)
    stored = str(query(database_url, "select * from mcp_calls"))
    assert name not in stored
    assert "Delete the flow" not in stored


async def test_what_a_client_made_and_changed_is_known_to_every_server(two: tuple[Database, Database]) -> None:
    clock = Clock()
    first, second = (Baselines(one, clock) for one in two)
    store = SqlFlowStore(two[1], "ada")
    old = await store.add(Flow.empty("Old"))
    stored = await store.get(old.id)
    assert await second.of("ada", "c", stored, store) == Base(stored.flow, 1)
    await first.note("ada", "c", old.id, 1, 2)
    await store.replace(old.id, Flow.empty("New"), 1)
    changed = await store.get(old.id)
    assert await second.of("ada", "c", changed, store) == Base(stored.flow, 1)
    for owner, client in (("eve", "c"), ("ada", "other")):
        assert await second.of(owner, client, changed, store) == Base(changed.flow, 2)
    await first.note("ada", "c", old.id, None, 2)
    assert await second.of("ada", "c", changed, store) == Base(None, None)
    clock.now += baselines_module.SECONDS
    assert await second.of("ada", "c", changed, store) == Base(changed.flow, 2)
    clock.now = 1_000.0
    await first.forget("ada", "c", old.id)
    assert await second.of("ada", "c", changed, store) == Base(changed.flow, 2)


async def test_after_many_changes_the_oldest_version_that_is_kept_is_the_users(two: tuple[Database, Database]) -> None:
    baselines, store = Baselines(two[0]), SqlFlowStore(two[0], "ada")
    entry = await store.add(Flow.empty("0"))
    for number in range(KEPT_REVISIONS + 1):
        entry = await store.replace(entry.id, Flow.empty(str(number)), entry.version)
    await baselines.note("ada", "c", entry.id, 1, entry.version)
    base = await baselines.of("ada", "c", await store.get(entry.id), store)
    assert base.version == entry.version - KEPT_REVISIONS + 1
    assert base.flow is not None
    assert base.flow.name == "1"


async def test_an_approval_that_one_server_has_asked_for_is_given_to_another(
    catalogue: Catalogue, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_DATABASE", database_url)

    async def asked(talk: Talk, **more: Any) -> types.CallToolResult | types.InputRequiredResult:
        return await talk.client.session.call_tool("delete_flow", {"flow_id": flow}, allow_input_required=True, **more)

    who = assistant(catalogue)
    await who.database.open()
    flow = (await SqlFlowStore(who.database, LOCAL.id).add(flow_of(LOUDER, catalogue))).id
    second = assistant(catalogue)
    async with talking(who, WITHOUT, answers=True) as one, talking(second, WITHOUT, answers=True) as other:
        question = await asked(one)
        assert isinstance(question, types.InputRequiredResult)
        done = await asked(other, input_responses=AGREED, request_state=question.request_state)
        assert isinstance(done, types.CallToolResult)
        assert not done.is_error
        with pytest.raises(MCPError, match="No such question"):
            await asked(one, input_responses=AGREED, request_state=question.request_state)
        assert (await one.give("list_flows"))["total"] == 0
        made = (await one.give("create_flow", name="Mine"))["flow"]["id"]
        await other.give("delete_flow", flow_id=made)
    assert other.questions == []
