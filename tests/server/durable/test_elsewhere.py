"""Two servers on one Postgres: one goes on with the turns of the one that ended, and its clients go on there."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from flows.catalogue import Catalogue
from runtime.keychain.access_token import access_token
from server.settings import ServerSettings
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.server.durable.playing import MESSAGE, effective
from tests.server.live import FLOWS, STREAM
from tests.server.streams.following import TURNS, followed, numbered, some
from tests.shared.flow_texts import LOUDER, flow_of

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
Other = tuple[asyncio.subprocess.Process, httpx.AsyncClient]


@pytest.fixture
def shared(postgres: Cluster, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database of several servers, which have one data folder as well."""
    url = postgres.schema()
    monkeypatch.setenv("WIREWRIGHT_DATABASE", url)
    monkeypatch.delenv("WIREWRIGHT_DURABLE", raising=False)
    monkeypatch.setenv("WIREWRIGHT_MEMORY", "file")
    return url


@asynccontextmanager
async def server(python: Path, **environment: str) -> AsyncGenerator[Other]:
    """A server as a process of its own, and a client of it."""
    process = await asyncio.create_subprocess_exec(
        *(python, "-m", "tests.server.durable.interrupted"),
        cwd=ROOT, env={**os.environ, "PORT": "0", **environment}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    draining: asyncio.Task[bytes] | None = None
    try:
        assert process.stdout is not None
        with anyio.fail_after(60):
            address = (await process.stdout.readline()).decode().split()[-1]
        draining = asyncio.create_task(process.stdout.read())
        headers = {"Authorization": f"Bearer {access_token(ServerSettings().data)}"}
        async with httpx.AsyncClient(base_url=address, timeout=60, trust_env=False, headers=headers) as client:
            yield process, client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if draining is not None:
            await draining


async def test_another_server_goes_on_with_the_turn_of_one_that_was_killed_and_its_client_goes_on_there(
    shared: str, catalogue: Catalogue, python_command: Path
) -> None:
    data = ServerSettings().data
    async with server(python_command, HANGS="1") as (process, there), server(python_command) as (_, here):
        flow = (await there.post(FLOWS, json=flow_of(LOUDER, catalogue).raw)).json()
        body: dict[str, Any] = {"input_value": MESSAGE, "session_id": "s", "turn_id": "t", "flow_id": flow["id"]}
        seen: list[dict[str, Any]] = []
        rest: list[dict[str, Any]] = []
        watched: list[dict[str, Any]] = []
        async with (
            anyio.create_task_group() as tasks,
            there.stream("POST", STREAM, json=body | {"resumable": True, "details": True}) as response,
        ):

            async def watch() -> None:  # another client, at the other server from the beginning
                watched.extend(await followed(here, "t"))

            async def until_it_ends() -> None:
                try:
                    async for event in numbered(response):
                        seen.append(event)  # noqa: PERF401  (kept when the stream breaks)
                except httpx.TransportError:
                    return

            tasks.start_soon(until_it_ends)
            with anyio.fail_after(30):
                while not (data / "hung").exists():  # noqa: ASYNC110  (another process makes it)
                    await anyio.sleep(0.02)
            tasks.start_soon(watch)
            await anyio.sleep(0.3)
            process.send_signal(signal.SIGKILL)
            await process.wait()
            with anyio.fail_after(30):
                rest = await followed(here, "t", seen[-1]["sequence"])
        whole = await followed(here, "t")
        check_events(whole, seen, rest, watched)
        (state, attempt) = query(shared, "select state, attempt from turns where id = 't'")[0]
        assert (state, attempt >= 2) == ("complete", True)
        assert (data / "ran").read_text() == "ran\n"
        asked = Counter((data / "requests").read_text().split())
        assert sorted(asked) == ["0", "1", "2", "3"]
        assert asked.total() <= 4 + attempt - 2, "no answer that has come is asked for again"
        kept = (await here.get(f"{FLOWS}/{flow['id']}/revisions")).json()["revisions"]
        assert [one["version"] for one in kept] == [2, 1]
        assert (await here.get("/api/v1/usage")).json()["total"]["turns"] == 1
        header = {"Last-Event-ID": f"t.{seen[-1]['sequence']}"}
        async with here.stream("GET", f"{TURNS}/t/events", headers=header) as response:
            assert await some(numbered(response)) == rest


def check_events(whole: list[dict[str, Any]], seen: list[dict[str, Any]], *others: list[dict[str, Any]]) -> None:
    """Nothing is lost and nothing counts twice, for whoever changed servers, and whoever was at the other one."""
    rest, watched = others
    assert [event["sequence"] for event in seen + rest] == sorted({event["sequence"] for event in seen + rest})
    assert counted(seen + rest) == counted(whole) == counted(watched)
    back = [event for event in whole if event["event"] == "rewound"]
    assert back, "the run is told again"
    assert all(event["to"] < event["sequence"] for event in back)
    kinds = Counter(event["event"] for event in counted(whole))
    assert (kinds["flow_update"], kinds["complete"], kinds["started"]) == (1, 1, 1)
    assert [one["input"] for one in whole[-1]["data"]["record"]["runs"]] == ["hello"]


def counted(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events that count."""
    return effective([(event["sequence"], json.dumps(event).encode()) for event in events])
