"""Stored flows that remember, over real HTTP on the real engine: by session, listed, read, deleted, across restarts."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import httpx
import pytest

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.runner import Runner
from runtime.sessions.messages import Message, MessageChanges
from server.settings import ServerSettings
from tests.server.live import FLOWS, serving
from tests.shared.flow_texts import HISTORY, flow_of
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]

FIRST = "before:  now: I am Ada"
SECOND = f"before: User: I am Ada\nAI: {FIRST} now: Who am I?"


@asynccontextmanager
async def client(engine: Runner, catalogue: Catalogue) -> AsyncGenerator[httpx.AsyncClient]:
    """A server's client; every server has the same data."""
    async with serving(Assistant(ServerSettings(), engine, catalogue=catalogue)) as live:
        yield live.client


@pytest.fixture
def history(catalogue: Catalogue) -> JsonObject:
    return flow_of(HISTORY, catalogue).to_json()


async def stored(to: httpx.AsyncClient, flow: JsonObject) -> str:
    return (await to.post(FLOWS, json=flow)).headers["location"]


async def said(to: httpx.AsyncClient, place: str, text: str, session: str | None, **more: object) -> str:
    reply = await to.post(f"{place}/run", json={"input_value": text, "session_id": session, **more})
    assert reply.json()["ok"], reply.text
    return reply.json()["output"]


@pytest.mark.engine
async def test_runs_with_one_session_id_remember_and_others_do_not(
    engine: Runner, catalogue: Catalogue, history: JsonObject
) -> None:
    async with client(engine, catalogue) as to:
        place, other = await stored(to, history), await stored(to, history)
        assert await said(to, place, "I am Ada", "s") == FIRST
        assert await said(to, place, "I am Ada", "t") == FIRST
        assert await said(to, other, "I am Ada", "s") == FIRST
        assert await said(to, place, "I am Ada", None) == FIRST
    async with client(engine, catalogue) as to:
        assert await said(to, place, "Who am I?", "s") == SECOND


@pytest.mark.engine
async def test_sessions_are_listed_read_and_deleted(engine: Runner, catalogue: Catalogue, history: JsonObject) -> None:
    async with client(engine, catalogue) as to:
        place = await stored(to, history)
        for session in ("a/b", "s"):
            await said(to, place, "I am Ada", session)
        listed = (await to.get(f"{place}/sessions")).json()
        assert [(each["session"], each["messages"]) for each in listed["sessions"]] == [("s", 2), ("a/b", 2)]
        assert listed["total"] == 2
        page = (await to.get(f"{place}/sessions", params={"limit": 1, "offset": 1})).json()
        assert [each["session"] for each in page["sessions"]] == ["a/b"]
        read = (await to.get(f"{place}/sessions/a%2Fb")).json()
        assert [(each["sender"], each["text"]) for each in read["messages"]] == [
            ("User", "I am Ada"),
            ("Machine", FIRST),
        ]
        assert (await to.delete(f"{place}/sessions/s")).status_code == 204
        assert await said(to, place, "I am Ada", "s") == FIRST
        assert (await to.get(f"{place}/sessions/a/b")).status_code == 200
        assert (await to.delete(f"{place}/sessions")).status_code == 204
        assert (await to.get(f"{place}/sessions")).json()["total"] == 0


@pytest.mark.engine
async def test_a_deleted_flow_leaves_no_messages(engine: Runner, catalogue: Catalogue, history: JsonObject) -> None:
    who = Assistant(ServerSettings(), engine, catalogue=catalogue)
    async with serving(who) as live:
        place = await stored(live.client, history)
        await said(live.client, place, "I am Ada", "s")
        flow_id = place.rpartition("/")[2]
        assert len(await who.flow_sessions.entries("local", flow_id)) == 1
        assert (await live.client.delete(place)).status_code == 204
        assert await who.flow_sessions.entries("local", flow_id) == []
        assert await who.flow_sessions.messages("local", flow_id, "s") == []


class LateRunner(StandInRunner):
    """Its runs remember something after their flow was deleted."""

    delete: Callable[[], Awaitable[httpx.Response]]

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        assert options.memory is not None
        assert (await self.delete()).status_code == 204
        await options.memory.save(
            MessageChanges(added=(Message(id="1", sender="User", sender_name="Ada", text=text or ""),))
        )
        return await super().execute(flow, text, options)


async def test_a_flow_that_is_deleted_while_it_runs_leaves_no_messages(
    catalogue: Catalogue, history: JsonObject
) -> None:
    runner = LateRunner()
    who = assistant(catalogue, runner=runner)
    async with serving(who) as live:
        place = await stored(live.client, history)
        runner.delete = partial(live.client.delete, place)
        await said(live.client, place, "I am Ada", "s")
        assert await who.flow_sessions.entries("local", place.rpartition("/")[2]) == []


async def test_an_unknown_session_or_flow_is_a_404_with_a_remedy(catalogue: Catalogue, history: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        place = await stored(live.client, history)
        for method in ("GET", "DELETE"):
            unknown = await live.client.request(method, f"{place}/sessions/nothing")
            assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "session_not_found")
            assert unknown.json()["error"]["fix"]
            gone = await live.client.request(method, f"{FLOWS}/nothing/sessions/s")
            assert (gone.status_code, gone.json()["error"]["code"]) == (404, "flow_not_found")
        assert (await live.client.get(f"{FLOWS}/nothing/sessions")).status_code == 404
        assert (await live.client.get(f"{place}/sessions")).json()["sessions"] == []
