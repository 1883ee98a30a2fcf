"""The server beside the real engine: runs happen in processes of their own, and whatever they do, it answers."""

import asyncio
import os
import uuid
from collections.abc import AsyncGenerator

import anyio
import pytest

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from flows.edits import add_component
from runtime.egress.service import Egress
from runtime.install.environment import RunnerEnvironment
from runtime.keychain.access_token import access_token
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.runner import Runner
from server.settings import ServerSettings
from tests.processes.ends import ends
from tests.server.live import FLOWS, Live, events, serving
from tests.shared.flow_texts import LOUDER_REQUEST
from tests.shared.stand_ins import StandInRunner

pytestmark = [pytest.mark.anyio, pytest.mark.engine]
CODE = """
import os, time
from lfx.custom.custom_component.component import Component
from lfx.io import MessageTextInput, Output
from lfx.schema.data import Data


class CustomComponent(Component):
    display_name = "Custom Component"
    name = "CustomComponent"
    inputs = [MessageTextInput(name="input_value", display_name="Input Value", value="")]
    outputs = [Output(display_name="Output", name="output", method="build_output")]

    def build_output(self) -> Data:
        {body}
"""


class Unguarded(Runner):
    """A runner that admits any code and takes one run at a time; knows the process of each run."""

    def __init__(self, environment: RunnerEnvironment) -> None:
        super().__init__(environment, concurrency=1)
        self.pids: list[int] = []
        self.running = asyncio.Event()

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Run without admission."""

        def started(pid: int) -> None:
            self.pids.append(pid)
            self.running.set()

        async with self._egress.attach(options) as egress:
            run_id = uuid.uuid4().hex
            return await self._exchange(flow.data, text, options, run_id=run_id, egress=egress, on_started=started)


@pytest.fixture(scope="module")
async def runner(warm_environment: RunnerEnvironment) -> AsyncGenerator[Unguarded]:
    async with Unguarded(warm_environment) as made:
        assert await made.ready(300)
        yield made


@pytest.fixture
async def live(runner: Unguarded, runner_environment: RunnerEnvironment) -> AsyncGenerator[Live]:
    runner.running.clear()
    settings = ServerSettings(cache=runner_environment.cache)
    async with serving(Assistant(settings, runner), settings) as live:
        yield live


@pytest.fixture(scope="module")
def installed(runner_environment: RunnerEnvironment) -> Catalogue:
    return Catalogue.load(runner_environment.catalogue)


async def stored(live: Live, catalogue: Catalogue, body: str) -> str:
    """Store a flow of one component that does this; gives where it is run."""
    edit = add_component(Flow.empty(), catalogue, "CustomComponent", values={"code": CODE.replace("{body}", body)})
    return f"{(await live.client.post(FLOWS, json=edit.flow.to_json())).headers['location']}/run"


async def works(live: Live, echo: JsonObject) -> bool:
    """Whether an ordinary flow runs."""
    place = (await live.client.post(FLOWS, json=echo)).headers["location"]
    return (await live.client.post(f"{place}/run", json={"input_value": "still here"})).json()["output"] == "still here"


async def test_a_sentence_becomes_a_flow_that_ran(live: Live) -> None:
    assert (await live.client.get("/readyz")).status_code == 200
    data = (await events(live.client, input_value=LOUDER_REQUEST))[-1]["data"]
    assert data["run"]["output"] == "Say it louder: hello"
    assert data["run_metrics"]["duration_seconds"] > 0
    assert data["validated"] is True
    place = (await live.client.post(FLOWS, json=data["flow"])).headers["location"]
    run = (await live.client.post(f"{place}/run", json={"input_value": "bye"})).json()
    assert (run["ok"], run["output"]) == (True, "Say it louder: bye")


async def test_a_run_happens_in_a_process_that_is_neither_the_servers_nor_the_engines(
    live: Live, runner: Unguarded, installed: Catalogue
) -> None:
    place = await stored(live, installed, 'return Data(data={"pid": os.getpid()})')
    run = (await live.client.post(place, json={})).json()
    (value,) = run["outputs"].values()
    assert value["pid"] == runner.pids[-1]
    assert value["pid"] not in {os.getpid(), runner.engine_pid}


async def test_a_run_that_never_ends_is_an_error_while_others_are_answered(
    live: Live, runner: Unguarded, installed: Catalogue, echo: JsonObject
) -> None:
    place = await stored(live, installed, "time.sleep(10_000)")
    asking = asyncio.create_task(live.client.post(place, json={"timeout": 1}))
    await runner.running.wait()
    assert (await live.client.get("/healthz")).status_code == 200
    run = (await asking).json()
    assert (run["ok"], run["error"]["code"]) == (False, "timeout")
    assert await works(live, echo)


async def test_a_run_that_exits_hard_is_an_error_and_the_next_one_works(
    live: Live, installed: Catalogue, echo: JsonObject
) -> None:
    run = (await live.client.post(await stored(live, installed, "os._exit(3)"), json={})).json()
    assert (run["ok"], run["error"]["code"]) == (False, "crash")
    assert await works(live, echo)


ROBBERY = """import http.client, os, socket, urllib.error, urllib.request
        def got(headers):
            connection = http.client.HTTPConnection({host!r}, {port}, timeout=10)
            try:
                connection.request("GET", "/api/v1/flows", headers=headers)
                return connection.getresponse().status
            except OSError as stopped:
                return type(stopped).__name__
        def proxied(headers):
            try:
                request = urllib.request.Request("http://{host}:{port}/api/v1/flows", headers=headers)
                return urllib.request.urlopen(request, timeout=10).status
            except urllib.error.HTTPError as stopped:
                return stopped.code
        def read(path):
            try:
                return open(path).read()
            except OSError as stopped:
                return type(stopped).__name__
        claimed = {{"Authorization": "Bearer " + os.environ.get("WIREWRIGHT_TOKEN", "x")}}
        return Data(data={{
            "asked": [got({{}}), got(claimed)],
            "proxied": [proxied({{}}), proxied(claimed)],
            "read": [read({token!r}), *(read(f"/proc/{{pid}}/environ") for pid in (os.getppid(), {server}))],
            "named": [name for name in os.environ if "WIREWRIGHT" in name],
        }})"""
"""A component that tries to use a server with what a run can have."""


@pytest.mark.parametrize("named", [False, True])
async def test_a_run_beside_a_server_gets_nothing_from_it_even_where_the_operator_names_the_server(
    named: bool,
    runner: Unguarded,
    installed: Catalogue,
    echo: JsonObject,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = ServerSettings()
    token = access_token(settings.data)
    monkeypatch.setenv("WIREWRIGHT_TOKEN", token)  # as a command has it that `.env` gives the token
    async with serving(Assistant(settings, StandInRunner()), settings) as live:
        assert (await live.client.post(FLOWS, json=echo)).status_code == 201
        here = live.client.base_url
        egress = Egress([f"{here.host}:{here.port}"] if named else [])
        monkeypatch.setattr(runner, "_egress", egress)
        body = ROBBERY.format(host=here.host, port=here.port, token=str(settings.data / "token"), server=os.getpid())
        code = CODE.replace("{body}", body)
        edit = add_component(Flow.empty(), installed, "CustomComponent", values={"code": code})
        result = await runner.execute(edit.flow, None, RunOptions(timeout=60))
        await egress.aclose()
    assert result.ok, result.error
    (found,) = result.outputs.values()
    assert isinstance(found, dict)
    assert found["proxied"] == [401 if named else 403] * 2
    assert set(found["asked"]) <= ({401} if named else {401, "PermissionError"}), "401 where the kernel closes no ports"
    assert found["named"] == []
    assert token not in str(found)
    assert set(found["read"]) <= {"PermissionError", "FileNotFoundError"}


async def test_a_client_that_leaves_ends_its_run_and_frees_the_place(
    live: Live, runner: Unguarded, installed: Catalogue, echo: JsonObject
) -> None:
    place = await stored(live, installed, "time.sleep(10_000)")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: live.client.post(place, json={"timeout": 600}))
        await runner.running.wait()
        assert (await live.client.get("/healthz")).status_code == 200
        tasks.cancel_scope.cancel()
    with anyio.fail_after(60):
        assert await works(live, echo), "only one run has a place at a time"


async def test_cancelling_a_run_ends_its_process(live: Live, runner: Unguarded, installed: Catalogue) -> None:
    place = await stored(live, installed, "time.sleep(10_000)")
    run = (await live.client.post(place, json={"wait": False, "timeout": 600})).json()
    await runner.running.wait()
    pid = runner.pids[-1]
    os.kill(pid, 0)
    cancelled = (await live.client.post(f"{run['url']}/cancel")).json()
    assert cancelled["state"] == "cancelled"
    assert await ends(pid)
