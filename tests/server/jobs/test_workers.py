"""A server that leaves all work to workers, and a process of the command."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.database.database import Database
from runtime.jobs.job import NewJob
from runtime.jobs.rows import Jobs
from runtime.keychain.master_key import FILE
from server.settings import ServerSettings
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner

ROOT = Path(__file__).parents[3]
COMMAND = """
import atexit, gc, sys
from cli.main import main
atexit.register(lambda: print("looks through", gc.get_freeze_count() == 0))
sys.argv = ["wirewright", "worker", "--queues", "runs", "--places", "2", "--json"]
main()
"""
"""The command, which says at its end whether the interpreter looks through all that it has made once more."""


@asynccontextmanager
async def worker(python: Path) -> AsyncGenerator[asyncio.subprocess.Process]:
    """The command, which takes its settings from the environment."""
    process = await asyncio.create_subprocess_exec(
        *(python, "-c", COMMAND),
        cwd=ROOT, env=dict(os.environ), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        with anyio.fail_after(120):
            assert b'"working"' in await process.stdout.readline()
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.anyio
async def test_a_server_without_work_of_its_own_answers_with_what_a_worker_has_run(
    postgres: Cluster,
    catalogue: Catalogue,
    echo: JsonObject,
    python_command: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = postgres.schema()
    monkeypatch.setenv("WIREWRIGHT_DATABASE", url)
    monkeypatch.setenv("WIREWRIGHT_WORK_HERE", "false")
    runner = StandInRunner()
    async with serving(assistant(catalogue, None, runner), ServerSettings()) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        async with worker(python_command) as process:
            with anyio.fail_after(120):
                done = await live.client.post(f"{FLOWS}/{flow}/run", json={"input_value": "hi"}, timeout=120)
            assert (done.status_code, done.json()["output"]) == (200, "hi"), done.text
            begun = await live.client.post(f"{FLOWS}/{flow}/run", json={"input_value": "ho", "wait": False})
            assert begun.status_code == 202
            with anyio.fail_after(60):
                while not (job := (await live.client.get(begun.json()["url"])).json())["ended_at"]:  # noqa: ASYNC110  (no event tells)
                    await asyncio.sleep(0.1)
            assert job["worker"] in {name for (name,) in query(url, "select id from servers")}
            runs = (await live.client.get("/api/v1/runs")).json()["runs"]
            assert sorted(run["output"] for run in runs) == ["hi", "ho"]
            process.send_signal(signal.SIGTERM)
            with anyio.fail_after(60):
                assert await process.wait() == 0
            assert process.stdout is not None
            assert b"looks through False" in await process.stdout.read()
    assert runner.asked == []


@pytest.mark.anyio
@pytest.mark.both_databases
async def test_the_worker_of_a_server_takes_runs_and_leaves_turns_and_evaluations_to_others(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    settings = ServerSettings()
    async with serving(assistant(catalogue, None, StandInRunner()), settings) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        database = Database(settings.database_url, settings.data)
        others = [
            NewJob(id="turn.t", owner="local", kind="turn", queue="turns"),
            NewJob(id="attempt", owner="local", kind="attempt", queue="evals"),
        ]
        for other in others:
            await Jobs(database).add([other])
        (await live.client.post(f"{FLOWS}/{flow}/batch", json={"inputs": ["a"] * 3, "id": "b"})).raise_for_status()
        with anyio.fail_after(60):
            while not (await live.client.get("/api/v1/batches/b")).json()["ended"]:  # noqa: ASYNC110  (no event tells)
                await asyncio.sleep(0.1)
        found = [await Jobs(database).get("local", other.id) for other in others]
        assert [(one.state, one.attempts, one.worker) for one in found] == [("queued", 0, "")] * 2
        assert query(settings.database_url, "select queues from servers where queues <> ''") == [("runs",)]
        await database.aclose()


@pytest.mark.anyio
async def test_a_worker_with_another_key_does_not_start_and_says_what_to_do(
    postgres: Cluster, python_command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_DATABASE", postgres.schema())
    database = Database(ServerSettings().database_url, ServerSettings().data)
    await database.open()
    await database.aclose()
    process = await asyncio.create_subprocess_exec(
        *(python_command, "-c", COMMAND),
        cwd=ROOT, env={**os.environ, "WIREWRIGHT_DATA": str(tmp_path / "other")},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    with anyio.fail_after(120):
        said, _ = await process.communicate()
    assert process.returncode == 1
    error = json.loads(said.splitlines()[0])["error"]
    assert "another secret key" in error["message"]
    assert FILE in error["fix"]
    assert not (tmp_path / "other" / FILE).exists()
