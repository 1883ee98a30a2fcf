"""Runs of stored flows over real HTTP as a stream of events, with tweaks, and turned away when too many wait."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.assistant import Assistant
from agent.contract.runs import RUN_STREAM_EVENTS
from flows.catalogue import Catalogue
from flows.document import Json, JsonObject
from flows.json_values import as_list, as_object
from runtime.install.environment import runner_source
from runtime.results import BUSY
from runtime.run_events import NodeFinished, NodeStarted, NodeToken, RunEvent
from runtime.runner import Runner
from server.settings import ServerSettings
from tests.processes.kernels.lacking import Uninstalled, lacking
from tests.server.live import ASSIST, FLOWS, event_of, serving
from tests.shared import kernel
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio

TOLD: list[RunEvent] = [
    NodeStarted(node="a"),
    NodeToken(node="a", text="two\nlines\u2028"),
    NodeFinished(node="a", seconds=0.5),
]


async def stored(client: httpx.AsyncClient, flow: JsonObject) -> str:
    return f"{(await client.post(FLOWS, json=flow)).headers['location']}/run"


def frames(reply: httpx.Response) -> list[Any]:
    """The objects of a stream, which has nothing else in it but signs of life."""
    blocks = [block for block in reply.text.split("\n\n") if block and not block.startswith(":")]
    return [event_of(block, RUN_STREAM_EVENTS) for block in blocks]


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Accept": "text/event-stream"}, {}),
        ({"Accept": "application/json, text/event-stream;q=0.9"}, {}),
        ({}, {"stream": True}),
    ],
)
async def test_events_are_streamed_in_order_and_the_result_comes_last(
    catalogue: Catalogue, echo: JsonObject, headers: dict[str, str], body: dict[str, object]
) -> None:
    runner = StandInRunner(results=[ran("hello")], events=TOLD)
    async with serving(assistant(catalogue, runner=runner)) as live:
        place = await stored(live.client, echo)
        reply = await live.client.post(place, json={"input_value": "hello", **body}, headers=headers)
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = frames(reply)
    run_id = events[-1]["data"]["run_id"]
    assert events == [
        {"event": "node_started", "node": "a", "iteration": 1},
        {"event": "token", "node": "a", "text": "two\nlines\u2028"},
        {"event": "node_finished", "node": "a", "iteration": 1, "seconds": 0.5, "ok": True},
        {"event": "complete", "data": {**ran("hello").to_json(), "run_id": run_id}},
    ]


async def test_a_client_that_does_not_ask_for_a_stream_gets_one_reply(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(results=[ran("hello")], events=TOLD)
    async with serving(assistant(catalogue, runner=runner)) as live:
        reply = await live.client.post(await stored(live.client, echo), json={"stream": False})
    assert reply.json() == {**ran("hello").to_json(), "run_id": reply.json()["run_id"]}


async def test_a_run_may_reach_the_hosts_that_its_request_allows(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(results=[ran("hello")])
    async with serving(assistant(catalogue, runner=runner)) as live:
        place = await stored(live.client, echo)
        assert (await live.client.post(place, json={"allow_hosts": ["api.example.com:443"]})).status_code == 200
        refused = await live.client.post(place, json={"allow_hosts": ["https://api.example.com/"]})
    assert runner.hosts == [("api.example.com:443",)]
    assert refused.status_code == 422
    assert "allow_hosts" in refused.text
    assert "neither a host name nor an address" in refused.text


async def test_a_flow_with_faults_is_reported_in_the_stream_and_not_run(catalogue: Catalogue, echo: JsonObject) -> None:
    data = as_object(echo["data"])
    edges: list[Json] = [{**as_object(edge), "source": "Nobody-1"} for edge in as_list(data["edges"])]
    broken: JsonObject = {"nodes": data["nodes"], "edges": edges}
    runner = StandInRunner()
    async with serving(assistant(catalogue, runner=runner)) as live:
        reply = await live.client.post(await stored(live.client, broken), json={"stream": True})
    [only] = frames(reply)
    assert (only["event"], only["data"]["ok"]) == ("complete", False)
    assert only["data"]["faults"]
    assert runner.asked == []


async def test_leaving_the_stream_cancels_the_run(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(events=TOLD, hangs=True)
    async with serving(assistant(catalogue, runner=runner)) as live:
        place = await stored(live.client, echo)
        async with live.client.stream("POST", place, json={"stream": True}) as reply:
            assert (await anext(reply.aiter_lines())).startswith("data: ")
        await runner.cancelled.wait()


async def test_a_server_that_stops_says_so_and_ends_the_run(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(events=TOLD, hangs=True)
    async with serving(assistant(catalogue, runner=runner)) as live:
        place = await stored(live.client, echo)
        async with live.client.stream("POST", place, json={"stream": True}) as reply:
            lines = reply.aiter_lines()
            await anext(lines)
            live.server.stop()
            told = [line async for line in lines if line.startswith("data: ")]
    assert event_of(told[-1], RUN_STREAM_EVENTS)["event"] == "cancelled"
    assert runner.cancelled.is_set()


async def test_too_many_runs_are_a_503_that_says_when_to_try_again(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, runner=StandInRunner(results=[ran(error=BUSY)]))) as live:
        reply = await live.client.post(await stored(live.client, echo), json={})
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "busy")
    assert int(reply.headers["retry-after"]) > 0
    assert reply.json()["error"]["message"] == BUSY.message


async def test_tweaks_reach_the_run_and_their_form_is_checked(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner()
    async with serving(assistant(catalogue, runner=runner)) as live:
        place = await stored(live.client, echo)
        tweaks = {"ChatInput-a": {"input_value": "x", "should_store_message": False}}
        assert (await live.client.post(place, json={"tweaks": tweaks})).status_code == 200
        assert runner.tweaks == [tweaks]
        refused = await live.client.post(place, json={"tweaks": {"a": 7}})
        assert (refused.status_code, refused.json()["error"]["where"]) == (422, "$.tweaks.a")


@pytest.mark.skipif(not kernel.confines(), reason="this kernel itself lacks Landlock 4 or seccomp")
async def test_a_machine_that_cannot_confine_runs_refuses_them_whatever_the_request_says(
    catalogue: Catalogue, echo: JsonObject, tmp_path: Path
) -> None:
    source = lacking(tmp_path / "source", runner_source(), seccomp=True)
    environment = Uninstalled(source, tmp_path / "cache", "none")
    async with Runner(environment, catalogue=catalogue, confinement="required") as runner:
        assert not await runner.ready(60)
        async with serving(Assistant(ServerSettings(), runner, catalogue=catalogue)) as live:
            place = await stored(live.client, {**echo, "run_confinement": "available"})
            ran_without = await live.client.post(place, json={"input_value": "hi"})
            tweaked = {"run_confinement": "available", "WIREWRIGHT_RUN_CONFINEMENT": "available"}
            asked = await live.client.post(place, json={"input_value": "hi", **tweaked})
            ready = await live.client.get("/readyz")
            built = await live.client.post(ASSIST, json={"input_value": "Build a flow that echoes its input"})
    error = ran_without.json()["error"]
    assert (ran_without.status_code, error["code"]) == (503, "runner_not_ready")
    assert "its kernel lacks what confines them: Landlock 4." in error["message"]
    assert "WIREWRIGHT_RUN_CONFINEMENT=available" in error["fix"]
    assert asked.json()["error"]["message"] == error["message"]
    assert (ready.status_code, ready.json()["runner"], ready.json()["message"]) == (503, "failed", error["message"])
    assert error["message"] in str(built.json())
