"""Stopping: what is under way ends within a deadline, nothing new is taken, and a second signal does not wait."""

import asyncio
import json
import signal
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from agent.conversation.stored import StoredMemory
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.database.database import Database
from server.drain import Drain, DrainCheck
from server.memory import IdleMemory, trim
from server.settings import ServerSettings
from tests.databases.stored import query
from tests.server.live import ASSIST, FLOWS, STREAM, Live, frames, serving
from tests.server.routes.test_live_runs import Gate, begun
from tests.server.test_serve import program, signed_in
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
HANGING = ("-m", "tests.server.hanging")


class Stopping:
    """A server that is told to stop while it answers a turn."""

    def __init__(self, process: asyncio.subprocess.Process, client: httpx.AsyncClient, turn: httpx.Response) -> None:
        self.process, self.client = process, client
        self.events = frames(turn)

    async def first(self) -> None:
        """Wait until the turn runs."""
        assert (await anext(self.events))["event"] == "progress"

    async def draining(self) -> httpx.Response:
        """Wait until the server drains; returns what it said of its readiness."""
        with anyio.fail_after(30):
            while True:
                reply = await self.client.get("/readyz")
                if reply.json().get("server") == "stopping":
                    return reply

    async def rest(self) -> list[str]:
        """The kinds of the turn's other events but progress."""
        return [event["event"] async for event in self.events if event["event"] != "progress"]

    async def code(self) -> int:
        """The exit code, within limits."""
        with anyio.fail_after(30):
            return await self.process.wait()


async def stopping(stack: AsyncExitStack, python: Path, session: str = "s") -> Stopping:
    """Start a server and a turn."""
    process, base = await stack.enter_async_context(program(python, *HANGING))
    client = await stack.enter_async_context(signed_in(base, 60))
    asked = {"input_value": "Tell me a joke", "session_id": session}
    turn = await stack.enter_async_context(client.stream("POST", STREAM, json=asked))
    made = Stopping(process, client, turn)
    await made.first()
    return made


async def test_a_turn_under_way_ends_and_no_new_one_is_taken_when_the_server_is_terminated(
    python_command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = tmp_path / "answer"
    monkeypatch.setenv("WIREWRIGHT_DRAIN_SECONDS", "600")
    monkeypatch.setenv("ANSWERS_ONCE", str(answer))
    async with AsyncExitStack() as stack:
        server = await stopping(stack, python_command)
        server.process.send_signal(signal.SIGTERM)
        ready = await server.draining()
        assert (ready.status_code, ready.json()["failing"]) == (503, ["server"])
        assert (await server.client.get("/healthz")).status_code == 200
        for path in (ASSIST, STREAM, f"{FLOWS}/x/run"):
            refused = await server.client.post(path, json={"input_value": "Another"})
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "stopping")
            assert 0 < int(refused.headers["Retry-After"]) <= 601
            assert refused.headers["X-Request-ID"] == refused.json()["error"]["request_id"]
        assert (await server.client.get(FLOWS)).status_code == 200, "what is there is still read"
        answer.touch()
        assert await server.rest() == ["complete"]
        assert await server.code() == 0
        assert server.process.stdout is not None
        lines = [json.loads(line) for line in (await server.process.stdout.read()).splitlines()]
    [draining] = [line for line in lines if line["message"] == "server.draining"]
    assert draining["under_way"] >= 1
    assert "request_id" not in draining, "it belongs to no request"
    assert [line["interrupted"] for line in lines if line["message"] == "server.drained"] == [0]


async def test_a_turn_that_does_not_end_is_interrupted_and_kept_as_such_at_the_deadline(
    python_command: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_DRAIN_SECONDS", "0.3")
    monkeypatch.setenv("WIREWRIGHT_MEMORY", "file")
    async with AsyncExitStack() as stack:
        server = await stopping(stack, python_command, "kept")
        server.process.send_signal(signal.SIGTERM)
        assert await server.rest() == ["cancelled"]
        assert await server.code() == 0
    settings = ServerSettings()
    database = Database(settings.database_url, settings.data)
    kept = await StoredMemory(database).load("local", "kept")
    await database.aclose()
    assert kept.turns[-1].user == "Tell me a joke"
    assert kept.turns[-1].notes[0].startswith("Interrupted before the end.")


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
async def test_a_second_signal_ends_what_is_under_way_at_once(
    second: signal.Signals, python_command: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_DRAIN_SECONDS", "600")
    async with AsyncExitStack() as stack:
        server = await stopping(stack, python_command)
        server.process.send_signal(signal.SIGTERM)
        await server.draining()
        server.process.send_signal(second)
        assert await server.rest() == ["cancelled"]
        assert await server.code() == 0


async def terminated(live: Live, runner: Gate) -> None:
    """Tell a server to stop, and let what it runs end once it drains."""
    live.server.drain()
    with anyio.fail_after(60):
        while (await live.client.get("/readyz")).json().get("server") != "stopping":
            continue
        runner.released.set()
        await live.task


async def test_a_run_that_nobody_waits_for_ends_before_the_server_does(catalogue: Catalogue, echo: JsonObject) -> None:
    runner, settings = Gate(), ServerSettings(drain_seconds=600)
    async with serving(assistant(catalogue, None, runner), settings) as live:
        run = await begun(live.client, echo)
        await runner.running.wait()
        await terminated(live, runner)
    assert not runner.cancelled.is_set()
    assert query(settings.database_url, "select id, state from runs") == [(run["id"], "succeeded")]


@pytest.mark.both_databases
async def test_a_job_that_goes_on_ends_and_none_is_begun_while_the_server_drains(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    runner, settings = Gate(), ServerSettings(drain_seconds=600, job_places=1)
    async with serving(assistant(catalogue, None, runner), settings) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        await live.client.post(f"{FLOWS}/{flow}/batch", json={"inputs": ["a", "b", "c"], "id": "b"})
        await runner.running.wait()
        await terminated(live, runner)
    assert [text for _, text in runner.asked] == ["a"]
    states = query(settings.database_url, "select state, count(*) from jobs group by state order by state")
    assert states == [("done", 1), ("queued", 2)], "the next server goes on with them"


async def test_a_server_at_rest_ends_at_once(python_command: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREWRIGHT_DRAIN_SECONDS", "600")
    async with program(python_command, *HANGING) as (process, base), signed_in(base, 30) as client:
        assert (await client.get(FLOWS)).status_code == 200
        process.send_signal(signal.SIGTERM)
        with anyio.fail_after(30):
            assert await process.wait() == 0


async def test_work_that_outlives_its_request_is_waited_for_as_well() -> None:
    running = [2, 1, 1, 0]
    drain = Drain(lambda: running.pop(0) if len(running) > 1 else running[0])
    assert await drain.wait(600) == 0
    assert running == [0]


async def test_the_deadline_holds_whatever_runs() -> None:
    drain = Drain()
    with drain.work(), drain.work():
        assert await drain.wait(0.01) == 2
    assert drain.under_way == 0


@pytest.mark.parametrize(
    ("method", "path", "passes"),
    [
        ("GET", FLOWS, True),
        ("DELETE", f"{FLOWS}/x", True),
        ("POST", "/api/v1/runs/x/cancel", True),
        ("POST", FLOWS, False),
        ("PATCH", f"{FLOWS}/x", False),
        ("PUT", f"{FLOWS}/x", False),
    ],
)
async def test_while_it_drains_only_what_reads_or_ends_something_passes(method: str, path: str, passes: bool) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    drain = Drain()
    check = DrainCheck(app, drain)
    scope: Scope = {"type": "http", "method": method, "path": path}
    await check(scope, receive, send)
    await drain.wait(0)
    await check(scope, receive, send)
    assert [message["status"] for message in sent if "status" in message] == [200, 200 if passes else 503]


async def test_freed_memory_is_given_back_once_nothing_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.memory.IDLE_SECONDS", 0.01)
    drain, given, looked = Drain(), asyncio.Event(), list[int]()
    loop = asyncio.get_running_loop()

    def under_way() -> int:
        looked.append(drain.under_way)
        return looked[-1]

    def give_back() -> None:
        loop.call_soon_threadsafe(given.set)

    memory = IdleMemory(under_way, give_back)
    drain.on_done = memory.worked
    with drain.work():
        with drain.work():
            pass
        while not looked:  # noqa: ASYNC110  (it says nothing while something is under way)
            await asyncio.sleep(0.01)
        assert not given.is_set()
    async with asyncio.timeout(30):
        await given.wait()
    assert looked[-1] == 0
    memory.close()


def test_memory_is_given_back_where_the_c_library_can_and_nothing_fails_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trim()

    def another(name: str | None) -> object:
        return object()

    monkeypatch.setattr("ctypes.CDLL", another)
    trim()
