"""Runs that nobody waits for, over real HTTP: begun, followed by several clients, cancelled, and interrupted."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from agent.contract.runs import RUN_STREAM_EVENTS
from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from runtime.options import RunOptions
from runtime.results import BUSY, RunHost, RunMetrics, RunResult
from runtime.run_events import NodeFinished, NodeStarted, NodeToken, RunEvent
from runtime.sessions.runs import LOST_SECONDS
from server.routes import run_log
from server.runs import live as live_runs
from server.settings import ServerSettings
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.server.live import DATA, FLOWS, event_of, serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
RUNS = "/api/v1/runs"
TOLD: list[RunEvent] = [NodeStarted(node="a"), NodeToken(node="a", text="half"), NodeFinished(node="a")]


@dataclass(eq=False)
class Gate(StandInRunner):
    """A runner whose runs tell all but their last event, and go on when they are released."""

    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """The next result, when it is released."""
        if options.on_event is not None:
            for event in TOLD[:-1]:
                options.on_event(event)
        self.running.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if options.on_event is not None:
            options.on_event(TOLD[-1])
        return await super().execute(flow, text, options)


async def begun(client: httpx.AsyncClient, echo: JsonObject, **body: object) -> dict[str, Any]:
    """A run that nobody waits for."""
    flow_id = (await client.post(FLOWS, json=echo)).json()["id"]
    reply = await client.post(f"{FLOWS}/{flow_id}/run", json={"wait": False, "input_value": "hi", **body})
    assert (reply.status_code, reply.headers["location"]) == (202, reply.json()["url"])
    return {**reply.json(), "flow": flow_id}


async def lines(client: httpx.AsyncClient, run: str, begun: asyncio.Event | None = None) -> list[dict[str, Any]]:
    """The events of a run; `begun` is set with the first of them."""
    found = list[dict[str, Any]]()
    async with client.stream("GET", f"{RUNS}/{run}/events") as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        async for line in reply.aiter_lines():
            if line.startswith(DATA):
                found.append(event_of(line, RUN_STREAM_EVENTS))
                if begun is not None:
                    begun.set()
    return found


async def test_a_run_nobody_waits_for_is_followed_by_several_from_its_beginning(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    host = RunHost(host="api.example.com", port=443, sent=1, received=2)
    whole = RunResult(
        run_id="x", output="done", outputs={"b": "done"}, nodes={"a": "half", "b": "done"}, hosts=(host,),
        metrics=RunMetrics(seconds=0.5, input_tokens=3, output_tokens=4, model_calls=1),
    )  # fmt: skip
    runner = Gate(results=[whole])
    async with serving(assistant(catalogue, runner=runner)) as live:
        run = await begun(live.client, echo)
        going_on = (await live.client.get(run["url"])).json()
        async with live.client.stream("GET", f"{run['url']}/events") as early:
            read = early.aiter_lines()
            first = event_of(await anext(read), RUN_STREAM_EVENTS)
            joined = asyncio.Event()
            late = asyncio.create_task(lines(live.client, run["id"], joined))
            await joined.wait()
            runner.released.set()
            rest = [event_of(line, RUN_STREAM_EVENTS) async for line in read if line.startswith(DATA)]
        one = (await live.client.get(run["url"])).json()
        ended = await lines(live.client, run["id"])
        every = await late
    assert (going_on["state"], going_on["result"], going_on["output"]) == ("running", None, None)
    assert every == [first, *rest]
    assert [event["event"] for event in every] == ["node_started", "token", "node_finished", "complete"]
    assert ended == every[-1:], "what led to it is not kept, but its end is"
    assert (one["state"], one["input"], one["output"]) == ("succeeded", "hi", "done")
    assert one["result"]["nodes"] == {"a": "half", "b": "done"}
    assert one["result"]["hosts"][0]["host"] == "api.example.com"
    assert one["result"]["metrics"]["total_tokens"] == 7
    assert one["result"]["run_id"] == one["id"] == run["id"]
    assert one["started_at"] <= one["at"]


async def test_a_reply_has_every_nodes_value_only_when_asked_and_the_log_always(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = StandInRunner(results=[replace(ran("hello"), nodes={"a": 1})])
    async with serving(assistant(catalogue, runner=runner)) as live:
        flow_id = (await live.client.post(FLOWS, json=echo)).json()["id"]
        plain = (await live.client.post(f"{FLOWS}/{flow_id}/run", json={})).json()
        whole = (await live.client.post(f"{FLOWS}/{flow_id}/run", json={"nodes": True})).json()
        kept = (await live.client.get(f"{RUNS}/{plain['run_id']}")).json()
    assert (plain["nodes"], whole["nodes"], kept["result"]["nodes"]) == ({}, {"a": 1}, {"a": 1})


async def test_a_cancelled_run_is_ended_and_says_so_to_all_who_follow_it(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = Gate()
    async with serving(assistant(catalogue, runner=runner)) as live:
        run = await begun(live.client, echo)
        following = asyncio.create_task(lines(live.client, run["id"]))
        await runner.running.wait()
        kept = await live.client.delete(run["url"])
        cancelled = await live.client.post(f"{run['url']}/cancel")
        assert runner.cancelled.is_set()
        events = await following
        again = await live.client.post(f"{run['url']}/cancel")
        unknown = await live.client.post(f"{RUNS}/nothing/cancel")
        erased = await live.client.delete(run["url"])
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    assert cancelled.json()["error"] == "The run was cancelled."
    assert events[-1]["event"] == "cancelled"
    assert (kept.status_code, kept.json()["error"]["code"]) == (409, "run_goes_on")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "run_ended")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "run_not_found")
    assert erased.status_code == 204


async def test_a_client_that_waits_for_a_run_is_told_when_it_is_cancelled(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = Gate()
    async with serving(assistant(catalogue, runner=runner)) as live:
        flow_id = (await live.client.post(FLOWS, json=echo)).json()["id"]
        waiting = asyncio.create_task(live.client.post(f"{FLOWS}/{flow_id}/run", json={}))
        await runner.running.wait()
        listed = (await live.client.get(RUNS, params={"state": "running"})).json()["runs"]
        await live.client.post(f"{RUNS}/{listed[0]['id']}/cancel")
        reply = await waiting
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "run_cancelled")


async def test_runs_are_found_by_flow_and_state_page_by_page(catalogue: Catalogue, echo: JsonObject) -> None:
    results = [ran("1"), ran("2"), ran(error=BUSY), ran("3")]
    async with serving(assistant(catalogue, runner=StandInRunner(results=results))) as live:
        ids = [(await live.client.post(FLOWS, json=echo)).json()["id"] for _ in range(2)]
        for number in range(4):
            await live.client.post(f"{FLOWS}/{ids[number % 2]}/run", json={})
        of_one = (await live.client.get(RUNS, params={"flow": ids[1], "state": "succeeded"})).json()
        none = (await live.client.get(RUNS, params={"state": "failed"})).json()
        wrong = await live.client.get(RUNS, params={"state": "sleeping"})
        found, place = list[str](), f"{RUNS}?limit=1"
        while place is not None:
            page = (await live.client.get(place)).json()
            found += [run["output"] for run in page["runs"]]
            place = page["next"]
    assert [run["output"] for run in of_one["runs"]] == ["3", "2"]
    assert (none["runs"], none["total"], none["next"]) == ([], 0, None)
    assert (wrong.status_code, wrong.json()["error"]["where"]) == (422, "?state")
    assert found == ["3", "2", "1"], "a run that was not accepted is not kept"


async def test_a_run_that_is_not_accepted_is_refused_before_it_is_promised(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    async with serving(assistant(catalogue, runner=StandInRunner(results=[ran(error=BUSY)]))) as live:
        flow_id = (await live.client.post(FLOWS, json=echo)).json()["id"]
        reply = await live.client.post(f"{FLOWS}/{flow_id}/run", json={"wait": False})
        assert (await live.client.get(RUNS)).json()["total"] == 0
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "busy")
    assert int(reply.headers["retry-after"]) > 0


async def test_a_flow_with_faults_is_not_begun(catalogue: Catalogue, echo: JsonObject) -> None:
    data: Any = echo["data"]
    broken = {"nodes": data["nodes"], "edges": [{**edge, "source": "Nobody-1"} for edge in data["edges"]]}
    async with serving(assistant(catalogue, runner=StandInRunner())) as live:
        flow_id = (await live.client.post(FLOWS, json=broken)).json()["id"]
        reply = await live.client.post(f"{FLOWS}/{flow_id}/run", json={"wait": False})
    assert (reply.status_code, reply.json()["ok"]) == (200, False)
    assert reply.json()["faults"]


async def test_what_goes_on_when_the_server_ends_is_interrupted(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = Gate()
    who = assistant(catalogue, runner=runner)
    async with serving(who) as live:
        run = await begun(live.client, echo)
        await runner.running.wait()
    assert runner.cancelled.is_set()
    async with serving(assistant(catalogue)) as live:
        one = (await live.client.get(run["url"])).json()
        events = await lines(live.client, run["id"])
    assert (one["state"], one["result"]) == ("interrupted", None)
    assert "Run it again" in one["error"]
    assert [event["event"] for event in events] == ["cancelled"]


async def test_a_run_whose_server_was_killed_is_found_to_be_interrupted(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = Gate()
    async with serving(assistant(catalogue, runner=runner)) as live:
        run = await begun(live.client, echo)
        await runner.running.wait()
        query(ServerSettings().database_url, "update runs set seen_at = '2020-01-01T00:00:00+00:00'")
        mine = (await live.client.get(run["url"])).json()
        async with serving(assistant(catalogue)) as other:
            theirs = (await other.client.get(run["url"])).json()
        runner.released.set()
        await lines(live.client, run["id"])
        done = (await live.client.get(run["url"])).json()
        total = (await live.client.get(RUNS)).json()["total"]
    assert LOST_SECONDS > 0
    assert mine["state"] == "running", "this server knows that it goes on, whatever the clock says"
    assert theirs["state"] == "interrupted"
    assert (done["state"], total) == ("succeeded", 1), "what came of it counts in the end"


async def test_a_run_is_cancelled_through_another_server(
    catalogue: Catalogue, echo: JsonObject, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_DATABASE", postgres.schema())
    runner = Gate()
    async with serving(assistant(catalogue, runner=runner)) as live, serving(assistant(catalogue)) as other:
        run = await begun(live.client, echo)
        await runner.running.wait()
        cancelled = await other.client.post(f"{run['url']}/cancel")
        assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
        assert runner.cancelled.is_set()
        again = await other.client.post(f"{run['url']}/cancel")
        assert (again.status_code, again.json()["error"]["code"]) == (409, "run_ended")


async def test_a_run_of_a_server_that_does_not_answer_is_not_said_to_be_cancelled(
    catalogue: Catalogue, echo: JsonObject, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_DATABASE", postgres.schema())
    monkeypatch.setattr(run_log, "STOP_SECONDS", 0.0)
    runner = Gate()
    async with serving(assistant(catalogue, runner=runner)) as live, serving(assistant(catalogue)) as other:
        run = await begun(live.client, echo)
        refused = await other.client.post(f"{run['url']}/cancel")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "run_elsewhere")


async def test_what_is_kept_for_late_followers_is_bounded(
    catalogue: Catalogue, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_runs, "FRAMES_BYTES", 60)
    runner = Gate()
    async with serving(assistant(catalogue, runner=runner)) as live:
        run = await begun(live.client, echo)
        await runner.running.wait()
        joined = asyncio.Event()
        following = asyncio.create_task(lines(live.client, run["id"], joined))
        await joined.wait()
        runner.released.set()
        events = await following
    assert [event["event"] for event in events] == ["node_started", "cut", "complete"]
