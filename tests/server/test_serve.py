"""Serving as a process: its address, its end on a signal, and a port that is taken."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from flows.spec import build
from runtime.database.backends.serving import connection_name
from runtime.database.database import Database
from runtime.install.environment import RunnerEnvironment
from runtime.keychain.access_token import access_token
from runtime.runner import Runner
from server.serve import CannotServe, address, bound, serve
from server.settings import ServerSettings
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.server.live import ASSIST, FLOWS, STREAM, frames, serving
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parent.parent.parent
ASKING = """nodes:
  P: PythonFunction
  O: ChatOutput
edges:
  P.function_output_str -> O.input_value
config:
  P.function_code: |
    import requests

    def answer():
        try:
            return str(requests.get("{address}/api/v1/flows", timeout=10).status_code)
        except requests.ConnectionError as stopped:
            return "stopped: " + str(stopped)
"""
"""A flow that calls an address and answers with what came of it."""


printed: dict[str, str] = {}
"""How to try the server, as the last one printed it."""


@asynccontextmanager
async def program(*command: str | Path) -> AsyncGenerator[tuple[asyncio.subprocess.Process, str]]:
    """A server as a process of its own, and its address."""
    environment = {"WIREWRIGHT_DRAIN_SECONDS": "0", **os.environ, "PORT": "0"}
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        with anyio.fail_after(60):
            line = (await process.stdout.readline()).decode().strip()
        assert line.startswith("Wirewright serves at http://127.0.0.1:"), line
        tried = dict([(await process.stdout.readline()).decode().split(maxsplit=1) for _ in range(3)])
        assert list(tried) == ["browser", "terminal", "curl"]
        printed.update(tried)
        yield process, line.removeprefix("Wirewright serves at ")
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def signed_in(base: str, seconds: float) -> httpx.AsyncClient:
    """A client that sends the token of this test's data folder."""
    headers = {"Authorization": f"Bearer {access_token(ServerSettings().data)}"}
    return httpx.AsyncClient(base_url=base, timeout=seconds, trust_env=False, headers=headers)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
async def test_open_streams_get_a_last_event_when_the_server_is_stopped(
    sent: signal.Signals, python_command: Path
) -> None:
    async with (
        program(python_command, "-m", "tests.server.hanging") as (process, base),
        signed_in(base, 30) as client,
        client.stream("POST", STREAM, json={"input_value": "Build an echo"}) as one,
        client.stream("POST", STREAM, json={"input_value": "Build another"}) as two,
    ):
        streams = [frames(one), frames(two)]
        for stream in streams:
            assert (await anext(stream))["event"] == "progress"
        process.send_signal(sent)
        for stream in streams:
            assert [event["event"] async for event in stream] == ["cancelled"]
        with anyio.fail_after(20):
            assert await process.wait() == 0


async def test_the_printed_link_signs_a_browser_in_and_the_printed_header_has_the_token(python_command: Path) -> None:
    async with (
        program(python_command, "-m", "tests.server.hanging") as (_, base),
        httpx.AsyncClient(base_url=base, timeout=30, trust_env=False) as browser,
    ):
        assert (await browser.get(FLOWS)).status_code == 401
        assert (await browser.get(printed["browser"].strip())).status_code == 303
        assert (await browser.get(FLOWS)).status_code == 200
        header = printed["curl"].split(" -H ")[1]
        shell = await asyncio.create_subprocess_shell(f"echo {header}", cwd=ROOT, stdout=asyncio.subprocess.PIPE)
        pasted, _ = await shell.communicate()
        assert pasted.decode().strip() == f"Authorization: Bearer {access_token(ServerSettings().data)}"


def test_a_port_that_is_taken_is_reported_with_a_fix() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(CannotServe, match="Cannot listen on port") as refused:
            serve(ServerSettings(port=taken.getsockname()[1]))
        assert "WIREWRIGHT_PORT" in refused.value.fix


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_address_is_the_one_that_listens(host: str) -> None:
    with bound(host, 0) as listener:
        assert address(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_an_ipv6_address_is_written_as_urls_want_it() -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    try:
        listener = bound("::1", 0)
    except CannotServe:
        pytest.skip("this machine has no IPv6 loopback")
    with listener:
        assert address(listener) == f"http://[::1]:{listener.getsockname()[1]}"


async def test_questions_are_answered_while_the_engine_is_still_starting(
    catalogue: Catalogue, data_folder: Path
) -> None:
    never = Runner(RunnerEnvironment(source=data_folder, cache=data_folder, digest="none"))
    who = Assistant(ServerSettings(), never, catalogue=catalogue)
    async with serving(who) as live:
        assert (await live.client.get("/readyz")).status_code == 503
        reply = await live.client.post(ASSIST, json={"input_value": "What does the Prompt Template component do?"})
        assert (reply.status_code, reply.json()["intent"]) == (200, "question")


class NeverReady(StandInRunner):
    """A runner whose engine is being installed for ever: whoever waits for it never gets an answer."""

    async def ready(self, timeout: float | None = None) -> bool:
        """Wait for ever."""
        await asyncio.Event().wait()
        return False


async def test_all_that_runs_nothing_is_answered_while_there_is_no_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_CACHE", str(tmp_path))
    who = Assistant(
        ServerSettings(), NeverReady(state="installing"), waits_for_engine=False
    )  # its catalogue is the shipped one
    async with serving(who) as live:
        assert (await live.client.get("/readyz")).status_code == 503
        found = await live.client.get("/api/v1/components", params={"q": "prompt template"})
        assert "Prompt Template" in {one["type"] for one in found.json()["components"]}
        described = await live.client.get("/api/v1/components/Prompt Template")
        assert described.status_code == 200
        assert "template" in described.json()["template"]
        asked = await live.client.post(ASSIST, json={"input_value": "What does the Prompt Template component do?"})
        assert (asked.status_code, asked.json()["intent"]) == (200, "question")
        built = await live.client.post(ASSIST, json={"input_value": "Build an echo flow"})
        assert built.json()["proposal"]
        assert [one for one in built.json()["caveats"] if one.startswith("It was checked but not run yet")]
        refused = await live.client.post(ASSIST, json={"input_value": "nodes:\n  a: Frobnicator\n"})
        assert "Frobnicator" in refused.json()["result"]
        assert not refused.json().get("proposal")


@pytest.mark.engine
async def test_flows_get_nothing_from_the_server_that_runs_them_nor_from_another(
    runner_environment: RunnerEnvironment,
    warm_engine: None,
    wirewright_command: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WIREWRIGHT_RUN_HOSTS", "127.0.0.1")  # without that, the proxy refuses this machine
    installed = Catalogue.load(runner_environment.catalogue)
    other = Assistant(ServerSettings(), StandInRunner(), catalogue=installed)
    async with (
        serving(other) as neighbour,
        program(wirewright_command, "serve") as (_, base),
        signed_in(base, 300) as client,
    ):

        async def came_of(address: str) -> str:
            built = build(ASKING.format(address=address), installed)
            assert built.flow is not None, built.faults
            place = (await client.post(FLOWS, json=built.flow.to_json())).headers["location"]
            return (await client.post(f"{place}/run", json={})).json()["output"]

        assert await came_of(str(neighbour.client.base_url)) == "401"
        assert await came_of(base) == "401"
        assert (await client.get("/healthz")).status_code == 200


def test_small_events_are_sent_at_once() -> None:
    with bound("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP, "asyncio turns Nagle's algorithm off only where it reads TCP"


async def test_the_connections_of_a_server_say_so_while_nobody_asks_anything(
    python_command: Path, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`wirewright restore` refuses a database to which there is one."""
    url = postgres.schema()
    monkeypatch.setenv("WIREWRIGHT_DATABASE", url)
    database = Database(url, ServerSettings().data, migrates=True)
    await database.open()
    await database.aclose()
    named = "SELECT application_name FROM pg_stat_activity WHERE application_name LIKE 'wirewright%'"
    async with program(python_command, "-m", "tests.server.telemetry.traced"):
        for _ in range(600):
            if (connection_name(url),) in query(url, named):
                break
            await asyncio.sleep(0.05)
        assert (connection_name(url),) in query(url, named)
    assert (connection_name(url),) not in query(url, named)
