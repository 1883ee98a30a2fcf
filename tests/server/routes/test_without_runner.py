"""A server whose flow engine cannot be installed: it serves what needs none, and says why not for the rest."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest
from starlette.routing import Route

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from server.app import create_app
from server.settings import ServerSettings
from tests.server.live import ASSIST, FLOWS, Live, events, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
async def live(catalogue: Catalogue, tmp_path: Path) -> AsyncGenerator[Live]:
    """A server with nothing to install its engine from."""
    nowhere = RunnerEnvironment(source=tmp_path / "missing", cache=tmp_path / "cache", digest="none")
    async with Runner(nowhere) as runner:
        who = Assistant(ServerSettings(model="demo"), runner, catalogue=catalogue, waits_for_engine=False)
        async with serving(who) as made:
            with anyio.fail_after(60):
                await runner.ready()
            yield made


async def test_readiness_names_the_runner_and_the_remedy(live: Live) -> None:
    reply = await live.stranger.get("/readyz")
    assert (reply.status_code, reply.json()["failing"], reply.json()["runner"]) == (503, ["runner"], "failed")
    assert reply.json()["message"]
    assert reply.json()["fix"]
    assert (await live.stranger.get("/healthz")).status_code == 200


async def test_every_route_that_reads_is_answered(live: Live, echo: JsonObject) -> None:
    flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
    for route in create_app(ServerSettings()).routes:
        assert isinstance(route, Route)
        if "GET" in (route.methods or ()) and route.path != "/readyz":
            values = dict.fromkeys(route.param_convertors, "none") | {"flow_id": flow, "version": "1"}
            path = route.path_format.format(**values)
            reply = await live.client.get(path)
            assert reply.status_code < 500, (path, reply.text)


async def test_a_run_is_refused_with_the_reason_and_may_be_tried_again(live: Live, echo: JsonObject) -> None:
    flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
    reply = await live.client.post(f"{FLOWS}/{flow}/run", json={"input_value": "hi"})
    assert reply.status_code == 503
    assert int(reply.headers["Retry-After"]) > 0
    error = reply.json()["error"]
    assert error["code"] == "runner_not_ready"
    assert error["message"]
    assert error["fix"]


async def test_questions_are_answered_and_flows_are_built_and_checked(live: Live) -> None:
    asked = await live.client.post(ASSIST, json={"input_value": "What does the Prompt Template component do?"})
    assert (asked.status_code, asked.json()["intent"]) == (200, "question")
    built = await live.client.post(ASSIST, json={"input_value": "Build an echo flow"})
    assert built.status_code == 200
    assert built.json()["proposal"]


async def test_a_turn_that_runs_a_flow_says_that_it_cannot(live: Live, echo: JsonObject) -> None:
    [*_, last] = await events(live.client, input_value="Run it with hello", flow=echo)
    assert last["event"] == "complete"
    assert last["data"]["record"]["not_done"] == ["run"]
    assert last["data"]["record"]["runs"] == []
    assert "Traceback" not in str(last)
