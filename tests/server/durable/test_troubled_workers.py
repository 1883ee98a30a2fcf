"""Turns on workers that are frozen and thawed, die of a turn again and again, or lose their database for a while."""

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest

from flows.catalogue import Catalogue
from server.durable.turns import TRIES
from server.settings import ServerSettings
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.server.durable.playing import MESSAGE
from tests.server.durable.test_elsewhere import counted, server
from tests.server.durable.test_workers import left_to_workers, until, worker
from tests.server.live import FLOWS
from tests.server.streams.following import followed, started
from tests.shared.flow_texts import LOUDER, flow_of

pytestmark = pytest.mark.anyio

EVENTS = "select first, last, document from turn_events where turn = 't' order by first"
SECONDS = 90
"""How long anything may take on a busy machine."""


@pytest.fixture
def shared(postgres: Cluster, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database of servers that leave all work to workers."""
    return left_to_workers(postgres, monkeypatch)


async def test_a_worker_that_was_frozen_past_its_lease_writes_nothing_of_its_turn_when_it_is_thawed(
    shared: str, catalogue: Catalogue, python_command: Path
) -> None:
    data = ServerSettings().data
    async with server(python_command) as (_, here), worker(python_command, HANGS="until"):
        canvas = flow_of(LOUDER, catalogue).raw
        flow = (await here.post(FLOWS, json=canvas)).json()
        await started(here, 0, input_value=MESSAGE, session_id="s", turn_id="t", flow_id=flow["id"], details=True)
        await until(lambda: (data / "hung").exists(), SECONDS)
        frozen = int((data / "hung").read_text())  # not the program that stands for it
        os.kill(frozen, signal.SIGSTOP)
        async with worker(python_command):
            with anyio.fail_after(SECONDS):
                whole = await followed(here, "t")
        assert whole[-1]["event"] == "complete"
        known, ran = query(shared, EVENTS), data / "ran"
        assert ran.read_text() == "ran\n"
        (data / "go").touch()
        os.kill(frozen, signal.SIGCONT)
        await until(lambda: ran.read_text() == "ran\nran\n", SECONDS)
        with anyio.fail_after(SECONDS):  # only the one that was thawed is there
            again = await started(here, input_value=MESSAGE, session_id="other", turn_id="next", flow=canvas)
        assert again[-1]["event"] == "complete"
        assert query(shared, EVENTS) == known
        assert query(shared, "select state, attempt > 1 from turns where id = 't'") == [("complete", True)]
        kept = (await here.get(f"{FLOWS}/{flow['id']}/revisions")).json()["revisions"]
        assert [one["version"] for one in kept] == [2, 1]
        assert (await here.get("/api/v1/usage")).json()["total"]["turns"] == 2


async def test_a_turn_that_kills_its_workers_stops_after_three_tries_with_an_error_that_its_user_sees(
    shared: str, catalogue: Catalogue, python_command: Path
) -> None:
    data = ServerSettings().data
    async with server(python_command) as (_, here):
        canvas = flow_of(LOUDER, catalogue).raw
        await started(here, 0, input_value=MESSAGE, session_id="s", turn_id="t", flow=canvas)
        for _ in range(TRIES):
            async with worker(python_command, HANGS="dies") as dying:
                with anyio.fail_after(SECONDS):
                    assert await dying.wait()
        async with worker(python_command, HANGS="dies") as last:
            with anyio.fail_after(SECONDS):
                seen = await followed(here, "t")
            await until(lambda: query(shared, "select state from jobs") == [("done",)], SECONDS)
            assert last.returncode is None
        assert (seen[-1]["event"], seen[-1]["code"]) == ("error", "turn_given_up")
        assert "three times" in seen[-1]["message"]
        assert (data / "died").read_text() == "died\n" * TRIES


async def test_turns_on_workers_go_on_when_postgres_is_restarted(
    own_postgres: Cluster, catalogue: Catalogue, python_command: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = left_to_workers(own_postgres, monkeypatch)
    data = ServerSettings().data
    canvas, turns = flow_of(LOUDER, catalogue).raw, [f"t{at}" for at in range(4)]
    told: dict[str, list[dict[str, Any]]] = {}
    async with (
        server(python_command) as (_, here),
        worker(python_command, HANGS="until"),
        worker(python_command, HANGS="until"),
    ):

        async def ask(turn: str) -> None:
            request: dict[str, Any] = {"input_value": MESSAGE, "session_id": turn, "turn_id": turn, "flow": canvas}
            told[turn] = await started(here, details=True, **request)

        with anyio.fail_after(2 * SECONDS):
            async with anyio.create_task_group() as tasks:
                for turn in turns:
                    tasks.start_soon(ask, turn)
                running = "select count(*) from jobs where state = 'running'"
                await until(lambda: query(url, running) == [(len(turns),)], SECONDS)
                own_postgres.stop()
                (data / "go").touch()
                await anyio.sleep(0.5)
                own_postgres.start()
        await until(lambda: query(url, "select distinct state from jobs") == [("done",)], SECONDS)
    for turn in turns:
        numbers = [event["sequence"] for event in told[turn]]
        assert numbers == sorted(set(numbers))
        kinds = Counter(event["event"] for event in counted(told[turn]))
        assert (kinds["started"], kinds["flow_update"], kinds["complete"]) == (1, 1, 1), kinds
        assert [one["input"] for one in told[turn][-1]["data"]["record"]["runs"]] == ["hello"]
