"""Turns on workers: a server that does no work itself queues them, and follows what workers store of them."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from flows.catalogue import Catalogue
from server.settings import ServerSettings
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.server.durable.playing import MESSAGE
from tests.server.durable.test_elsewhere import check_events, server
from tests.server.live import FLOWS, STREAM
from tests.server.streams.following import TURNS, followed, numbered
from tests.shared.flow_texts import LOUDER, flow_of

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]


@pytest.fixture
def shared(postgres: Cluster, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database of servers that leave all work to workers."""
    return left_to_workers(postgres, monkeypatch)


def left_to_workers(postgres: Cluster, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the servers of this test leave all work to workers; the URL of their new database."""
    url = postgres.schema()
    monkeypatch.setenv("WIREWRIGHT_DATABASE", url)
    monkeypatch.setenv("WIREWRIGHT_WORK_HERE", "false")
    monkeypatch.delenv("WIREWRIGHT_DURABLE", raising=False)
    monkeypatch.setenv("WIREWRIGHT_MEMORY", "file")
    return url


@asynccontextmanager
async def worker(python: Path, skew: int = 0, **environment: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A worker for turns as a process of its own, whose clocks are wrong by so many seconds."""
    module = ("tests.server.elsewhere.skewed", str(skew)) if skew else ("tests.server.durable.interrupted",)
    process = await asyncio.create_subprocess_exec(
        *(python, "-m", *module, "turns"),
        cwd=ROOT, env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    draining: asyncio.Task[bytes] | None = None
    try:
        with anyio.fail_after(60):
            assert await process.stdout.readline()
        draining = asyncio.create_task(process.stdout.read())
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if draining is not None:
            await draining


async def until(condition: Any, seconds: float = 30) -> None:
    """Wait until something holds."""
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110  (other processes bring it about)
            await asyncio.sleep(0.02)


async def test_a_worker_takes_a_turn_and_another_one_goes_on_when_it_is_killed(
    shared: str, catalogue: Catalogue, python_command: Path
) -> None:
    """Their clocks are two minutes apart, and the server's is between them."""
    data = ServerSettings().data
    async with server(python_command) as (_, here), worker(python_command, 60, HANGS="1") as first:
        flow = (await here.post(FLOWS, json=flow_of(LOUDER, catalogue).raw)).json()
        body: dict[str, Any] = {"input_value": MESSAGE, "session_id": "s", "turn_id": "t", "flow_id": flow["id"]}
        seen: list[dict[str, Any]] = []
        async with anyio.create_task_group() as tasks:

            async def follow() -> None:
                async with here.stream("POST", STREAM, json=body | {"resumable": True, "details": True}) as response:
                    assert response.status_code == 200
                    seen.extend([event async for event in numbered(response)])

            tasks.start_soon(follow)
            await until(lambda: (data / "hung").exists())
            async with worker(python_command, -60):
                first.send_signal(signal.SIGKILL)
                await first.wait()
                with anyio.fail_after(40):
                    whole = await followed(here, "t")
                await until(lambda: bool(seen) and seen[-1]["event"] == "complete")
                check_events(whole, seen, [], whole)
                await until(lambda: query(shared, "select state from jobs where kind = 'turn'") == [("done",)])
                assert query(shared, "select state from turns where id = 't'") == [("complete",)]
                kept = (await here.get(f"{FLOWS}/{flow['id']}/revisions")).json()["revisions"]
                assert [one["version"] for one in kept] == [2, 1]
                assert (await here.get("/api/v1/usage")).json()["total"]["turns"] == 1


async def test_a_turn_is_cancelled_while_it_waits_and_while_it_runs(
    shared: str, catalogue: Catalogue, python_command: Path
) -> None:
    data = ServerSettings().data
    async with server(python_command) as (_, here):
        body: dict[str, Any] = {"input_value": MESSAGE, "resumable": True, "flow": flow_of(LOUDER, catalogue).raw}
        async with here.stream("POST", STREAM, json=body | {"turn_id": "waits"}) as response:
            stopped = await here.post(f"{TURNS}/waits/cancel")
            assert (stopped.status_code, stopped.json()["status"]) == (200, "cancelled")
            assert [event["event"] async for event in numbered(response)] == ["cancelled"]
        assert query(shared, "select state from jobs") == [("cancelled",)]
        async with worker(python_command, HANGS="1"):
            async with here.stream("POST", STREAM, json=body | {"turn_id": "runs"}) as response:
                await until(lambda: (data / "hung").exists())
                stopped = await here.post(f"{TURNS}/runs/cancel")
                assert (stopped.status_code, stopped.json()["status"]) == (200, "cancelled")
                assert [event["event"] async for event in numbered(response)][-1] == "cancelled"
            (data / "hung").unlink()
            async with here.stream("POST", STREAM, json=body | {"turn_id": "job"}) as response:
                await until(lambda: (data / "hung").exists())
                assert (await here.post("/api/v1/jobs/turn.job/cancel")).status_code == 200
                last = [event async for event in numbered(response)][-1]
                assert (last["event"], last["reason"]) == ("cancelled", "stopped")
            await until(lambda: query(shared, "select count(*) from jobs where state <> 'cancelled'")[0][0] <= 1)


async def test_a_turn_whose_client_leaves_is_taken_by_nobody(
    shared: str, catalogue: Catalogue, python_command: Path
) -> None:
    async with server(python_command) as (_, here):
        body: dict[str, Any] = {"input_value": MESSAGE, "flow": flow_of(LOUDER, catalogue).raw, "turn_id": "left"}
        async with here.stream("POST", STREAM, json=body):
            assert query(shared, "select state from jobs") == [("queued",)]
        await until(lambda: query(shared, "select state from turns") == [("cancelled",)])
        assert query(shared, "select state from jobs") == [("cancelled",)]
        assert (await here.post(STREAM, json=body)).status_code == 409
