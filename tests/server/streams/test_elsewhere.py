"""Two servers on one Postgres: what the one takes, the other one follows, stops, respects, and ends when it is gone."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from flows.catalogue import Catalogue
from runtime.database.database import Database
from runtime.keychain.access_token import access_token
from server.settings import ServerSettings
from server.store.turn_rows import SqlTurns
from server.store.turns import UNSTORED, NewEvents, SteadyClock, StoredTurn
from server.streams.elsewhere import ServerName
from tests.databases.postgres import Cluster
from tests.databases.secrets import opened
from tests.databases.stored import query
from tests.server.live import ASSIST, STREAM, serving
from tests.server.streams.following import TURNS, followed, numbered, some
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
BODY: dict[str, Any] = {"input_value": "What?", "session_id": "s", "resumable": True, "turn_id": "t"}
Another = tuple[asyncio.subprocess.Process, httpx.AsyncClient]
LONG_AGO = "2026-01-01T00:00:00.000+00:00"


@pytest.fixture
def shared(postgres: Cluster, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database of several servers, which have one data folder as well."""
    url = postgres.schema()
    monkeypatch.setenv("WIREWRIGHT_DATABASE", url)
    monkeypatch.setenv("WIREWRIGHT_DURABLE", "0")  # turns that end with their server
    return url


@asynccontextmanager
async def another_server(python: Path) -> AsyncGenerator[Another]:
    """A server whose model hangs, and a client of it."""
    process = await asyncio.create_subprocess_exec(
        *(python, "-m", "tests.server.streams.slow_turn"),
        cwd=ROOT, env={**os.environ, "PORT": "0"}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        with anyio.fail_after(60):
            address = (await process.stdout.readline()).decode().split()[-1]
        headers = {"Authorization": f"Bearer {access_token(ServerSettings().data)}"}
        async with httpx.AsyncClient(base_url=address, timeout=30, trust_env=False, headers=headers) as client:
            yield process, client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def stored(url: str) -> None:
    """Wait until the first event of the turn is stored."""
    with anyio.fail_after(30):
        while not query(url, "select 1 from turn_events where turn = 't'"):  # noqa: ASYNC110  (another process stores it)
            await asyncio.sleep(0.05)


def pass_the_lease(url: str) -> None:
    """Let every server that does not say otherwise be gone for long."""
    query(url, "update servers set seen_at = :then", then=LONG_AGO)


async def test_the_turn_of_a_server_that_was_killed_is_ended_by_another_one(
    shared: str, catalogue: Catalogue, python_command: Path
) -> None:
    model = ScriptedModel("question", "Said.", "question", "Said again.")
    async with (
        serving(assistant(catalogue, model, memory=None)) as here,
        another_server(python_command) as (process, there),
    ):
        sent = await here.client.post(ASSIST, json={"input_value": "First", "session_id": "s"})
        assert sent.status_code == 200, sent.text
        (message,) = (await here.client.get("/api/v1/conversations/s")).json()["messages"]
        async with there.stream("POST", STREAM, json=BODY) as response:
            seen = [await anext(numbered(response))]
            await stored(shared)
            again = await here.client.post("/api/v1/conversations/s/rewind", json={"message": message["id"]})
            assert (again.status_code, again.json()["error"]["code"]) == (409, "runs_elsewhere")
            process.send_signal(signal.SIGKILL)
            await process.wait()
        pass_the_lease(shared)
        left = await followed(here.client, "t")
        assert left[: len(seen)] == seen
        assert (left[-1]["event"], left[-1]["reason"]) == ("cancelled", "interrupted")
        assert [event["event"] for event in left].count("cancelled") == 1
        assert query(shared, "select state from turns where id = 't'") == [("cancelled",)]
        again = await here.client.post("/api/v1/conversations/s/rewind", json={"message": message["id"]})
        assert (again.status_code, again.json()["removed"]) == (200, 1)
        assert (await here.client.post(f"{TURNS}/t/cancel")).json()["status"] == "cancelled"


async def test_a_turn_is_stopped_through_another_server(
    shared: str, catalogue: Catalogue, python_command: Path
) -> None:
    async with (
        serving(assistant(catalogue)) as here,
        another_server(python_command) as (_, there),
        there.stream("POST", STREAM, json=BODY) as response,
    ):
        events = numbered(response)
        seen = [await anext(events)]
        await stored(shared)
        stopped = await here.client.post(f"{TURNS}/t/cancel")
        assert (stopped.status_code, stopped.json()) == (200, {"turn_id": "t", "status": "cancelled"})
        seen += await some(events)
        assert (seen[-1]["event"], seen[-1]["reason"]) == ("cancelled", "stopped")
        assert await followed(here.client, "t") == seen


async def test_a_turn_of_a_server_that_was_only_slow_ends_as_it_did(database_url: str, tmp_path: Path) -> None:
    """A server seemed to be gone, and comes back: what it stores counts, and nothing follows the last event."""
    async with opened(database_url, tmp_path) as first, opened(database_url, tmp_path) as second:
        slow, other = turns_of(first, "slow"), turns_of(second, "other")
        assert await slow.reserve("u", "t", "s")
        await slow.append([new(1, b'{"event":"token"}')])
        assert not (await found(other)).is_lost
        assert await other.runs_elsewhere("u", "s")
        pass_the_lease(database_url)
        assert (await found(other)).is_lost
        assert not await other.runs_elsewhere("u", "s")
        assert (await other.end_lost(), await slow.end_lost()) == (1, 0)
        assert ((await found(other)).state, (await found(other)).last) == ("cancelled", 1 + UNSTORED + 1)
        await slow.append([new(2, b'{"event":"complete"}', "complete")])
        assert ((await found(other)).state, (await found(other)).last) == ("complete", 2)
        assert query(database_url, "select last from turn_events order by last") == [(1,), (2,)]


async def test_of_several_servers_one_ends_what_was_left(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        gone = turns_of(database, "gone")
        for turn in ("a", "b", "c"):
            assert await gone.reserve("u", turn, "s")
        pass_the_lease(database_url)
        others = [Database(database_url, tmp_path) for _ in range(3)]
        ended = await asyncio.gather(*(turns_of(each, str(at)).end_lost() for at, each in enumerate(others)))
        assert sum(ended) == 3
        for each in others:
            await each.aclose()
    assert query(database_url, "select count(*) from turn_events") == [(3,)]


async def test_a_server_that_started_again_ends_its_own_turns_at_once(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        assert await turns_of(database, "one").reserve("u", "t", "s")
        assert not (await found(turns_of(database, "other"))).is_lost
        await turns_of(database, "one").end_interrupted()
        assert (await found(turns_of(database, "other"))).state == "cancelled"


async def test_a_server_is_asked_to_stop_its_own_turns_alone(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        one, other = turns_of(database, "one"), turns_of(database, "other")
        assert await one.reserve("u", "t", "s")
        assert (await one.asked_to_stop(), await other.asked_to_stop()) == ([], [])
        await other.ask_to_stop("v", "t")
        assert await one.asked_to_stop() == []
        await other.ask_to_stop("u", "t")
        assert (await one.asked_to_stop(), await other.asked_to_stop()) == ([("u", "t")], [])
        await one.append([new(1, b'{"event":"cancelled"}', "cancelled")])
        assert await one.asked_to_stop() == []


def test_servers_of_one_data_folder_have_names_of_their_own_which_stay(tmp_path: Path) -> None:
    first, second, third = ServerName(tmp_path), ServerName(tmp_path), ServerName(tmp_path)
    one, other = first.take(), second.take()
    assert one != other
    first.release()
    assert third.take() == one
    second.release()
    third.release()


def turns_of(database: Database, server: str) -> SqlTurns:
    return SqlTurns(database, server, 60, SteadyClock())


def new(first: int, line: bytes, state: str = "running") -> NewEvents:
    return NewEvents("u", "t", "s", is_new=False, first=first, lines=[line], state=state)


async def found(turns: SqlTurns) -> StoredTurn:
    turn = await turns.find("u", "t")
    assert turn is not None
    return turn
