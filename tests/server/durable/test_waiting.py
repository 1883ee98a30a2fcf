"""A turn for which no worker is there: its client is told, and so is whoever looks after the server."""

from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.server.durable.playing import MESSAGE
from tests.server.durable.test_elsewhere import server
from tests.server.durable.test_workers import left_to_workers, until, worker
from tests.server.live import STREAM, event_of
from tests.server.streams.following import TURNS
from tests.shared.flow_texts import LOUDER, flow_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def shared(postgres: Cluster, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database of servers that leave all work to workers."""
    return left_to_workers(postgres, monkeypatch)


async def test_a_turn_that_no_worker_takes_says_that_it_waits_and_so_do_readiness_and_metrics(
    shared: str, catalogue: Catalogue, python_command: Path
) -> None:
    body: dict[str, Any] = {"input_value": MESSAGE, "turn_id": "t", "flow": flow_of(LOUDER, catalogue).raw}
    async with (
        server(python_command) as (_, here),
        here.stream("POST", STREAM, json=body | {"resumable": True}) as response,
    ):
        lines = response.aiter_lines()
        while not (line := await anext(lines)).startswith("data: "):
            continue
        told = event_of(line)
        assert (told["event"], told["step"], told["sequence"]) == ("progress", "waiting", 0)
        assert "none is there" in told["message"]
        assert query(shared, "select count(*) from turn_events") == [(0,)]

        async def shown(name: str, value: float) -> bool:
            text = (await here.get("/metrics")).text
            return f'{name}{{queue="turns"}} {value}' in text.splitlines()

        while not await shown("wirewright_jobs_queued", 1.0):
            continue
        assert await shown("wirewright_workers", 0.0)
        ready = (await here.get("/readyz")).json()
        assert ready["workers"] == {"turns": 0, "runs": 0, "evals": 0}
        async with worker(python_command):
            rest = [event_of(line) async for line in lines if line.startswith("data: ")]
            assert (rest[0]["sequence"], rest[-1]["event"]) == (1, "complete")
            while not await shown("wirewright_workers", 1.0):
                continue
            assert await shown("wirewright_jobs_queued", 0.0)
            assert (await here.get("/readyz")).json()["workers"]["turns"] == 1


async def test_a_turn_that_is_cancelled_is_not_queued_again(
    shared: str, catalogue: Catalogue, python_command: Path
) -> None:
    body: dict[str, Any] = {"input_value": MESSAGE, "turn_id": "t", "flow": flow_of(LOUDER, catalogue).raw}
    async with server(python_command) as (_, here):
        async with here.stream("POST", STREAM, json=body | {"resumable": True}):
            await here.post(f"{TURNS}/t/cancel")
        await until(lambda: query(shared, "select state from jobs") == [("cancelled",)])
        refused = await here.post("/api/v1/jobs/turn.t/retry")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "turn_not_retried")
