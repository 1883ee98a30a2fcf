"""Faults of others, over real HTTP: a provider that hangs, clients that vanish, a clock that jumps, ids given twice."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Self

import httpx
import pytest
from pydantic_ai import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCalls

from agent.contract.runs import RUN_STREAM_EVENTS
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.run_events import NodeFinished, NodeStarted, NodeToken, RunEvent
from runtime.sessions import runs
from server.settings import ServerSettings
from tests.server.limits.conftest import state_of
from tests.server.live import DATA, FLOWS, Live, event_of, frames, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
STREAM, ASKS = "/api/v1/agentic/assist/stream", {"input_value": "What is a prompt?", "session_id": "one"}
TOLD: list[RunEvent] = [NodeStarted(node="a"), NodeToken(node="a", text="half"), NodeFinished(node="a")]


class Hanging(ScriptedModel):
    """A model that classifies, and hangs in the middle of its answer."""

    def __init__(self) -> None:
        super().__init__("question")
        self.stream_function = self._half
        self.left = asyncio.Event()

    async def _half(self, _: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        try:
            yield "It fills "
            yield "the "
            await asyncio.Event().wait()
        finally:
            self.left.set()


@dataclass(eq=False)
class Steps(StandInRunner):
    """A runner whose run tells an event for each step that it is allowed."""

    allowed: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Its events, and a result."""
        assert options.on_event is not None
        try:
            for event in TOLD:
                await self.allowed.acquire()
                options.on_event(event)
            await self.allowed.acquire()
        finally:
            self.left.set()
        return await super().execute(flow, text, options)


async def run_of(client: httpx.AsyncClient, echo: JsonObject) -> str:
    """The address at which a stored flow is run."""
    return f"{FLOWS}/{(await client.post(FLOWS, json=echo)).json()['id']}/run"


async def until_free(live: Live) -> None:
    """Wait until no turn and no run has a place."""
    for _ in range(1_000):
        if not len(state_of(live).turn_slots) and not len(state_of(live).run_slots):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("a place was never given back")


async def test_a_provider_that_hangs_in_the_middle_of_its_answer_ends_the_turn_in_time(catalogue: Catalogue) -> None:
    model = Hanging()
    async with serving(assistant(catalogue, model), ServerSettings(work_seconds=2.0)) as live:
        reply = await live.client.post(STREAM, json=ASKS)
        events = [event_of(line) for line in reply.text.splitlines() if line.startswith(DATA)]
        streamed = "".join(event["chunk"] for event in events if event["event"] == "token")
        assert "It fills the ".startswith(streamed), "what comes before the end depends on the machine"
        assert (events[-1]["event"], events[-1]["code"]) == ("error", "timeout")
        await model.left.wait()
        await until_free(live)


async def test_a_turn_whose_provider_hangs_can_be_stopped(catalogue: Catalogue) -> None:
    model = Hanging()
    async with serving(assistant(catalogue, model)) as live:
        async with live.client.stream("POST", STREAM, json={**ASKS, "turn_id": "hanging"}) as reply:
            events = frames(reply)
            while (await anext(events))["event"] != "token":
                pass
            stopped = await live.client.post("/api/v1/agentic/turns/hanging/cancel")
            rest = [event["event"] async for event in events]
        assert (rest[-1], stopped.json()["status"]) == ("cancelled", "cancelled")
        await model.left.wait()
        await until_free(live)


async def last_of(live: Live, turn: str) -> str:
    """The last event of a turn that has ended, as it is stored."""
    for _ in range(1_000):
        reply = await live.client.get(f"/api/v1/agentic/turns/{turn}/events")
        told = [event_of(line)["event"] for line in reply.text.splitlines() if line.startswith(DATA)]
        if told and told[-1] in ("complete", "error", "cancelled"):
            return told[-1]
        await asyncio.sleep(0.01)
    raise AssertionError("the turn never ended")


@pytest.mark.parametrize("seen", range(3))
async def test_a_turn_ends_with_a_client_that_vanishes_after_any_event_of_it(seen: int, catalogue: Catalogue) -> None:
    model = Hanging()
    async with serving(assistant(catalogue, model), ServerSettings(user_turns=1)) as live:
        asked = live.client.stream("POST", STREAM, json={**ASKS, "turn_id": "left"})
        async with asked as reply, aclosing(frames(reply)) as read:
            for _ in range(seen):
                await anext(read)
        await until_free(live)
        assert await last_of(live, "left") == "cancelled"
        model.replies[:] = ["off_topic"]
        assert (await live.client.post(STREAM, json=ASKS)).status_code == 200, "its place is free again"


@pytest.mark.both_databases
async def test_a_turn_that_builds_ends_with_a_client_that_vanishes_at_each_of_its_events(catalogue: Catalogue) -> None:
    replies = ["build_flow", [call("add_component", 1, type="ChatInput")], "Added it."]
    model = ScriptedModel()
    async with serving(assistant(catalogue, model), ServerSettings(user_turns=1)) as live:

        async def asked(turn: str, count: int | None) -> list[str]:
            model.replies[:] = replies
            body = {"input_value": "Add an input", "session_id": turn, "turn_id": turn}
            async with live.client.stream("POST", STREAM, json=body) as reply, aclosing(frames(reply)) as read:
                assert reply.status_code == 200, "the turn before has given its place back"
                return [event["event"] async for event in first_of(read, count)]

        whole = await asked("whole", None)
        assert whole[-1] == "complete"
        for index in range(len(whole)):
            assert await asked(f"left-{index}", index) == whole[:index]
            await until_free(live)
            assert await last_of(live, f"left-{index}") in ("cancelled", "complete")
        assert await asked("after", None) == whole, "the next one is as if nothing had been"


async def first_of(events: AsyncIterator[dict[str, Any]], count: int | None) -> AsyncGenerator[dict[str, Any]]:
    """So many of some events, or all; no more than these are read."""
    taken = 0
    while count is None or taken < count:
        event = await anext(events, None)
        if event is None:
            return
        yield event
        taken += 1


@pytest.mark.parametrize("seen", range(len(TOLD) + 2))
async def test_a_run_ends_with_a_client_that_vanishes_after_any_event(
    seen: int, catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = Steps()
    async with serving(assistant(catalogue, runner=runner), ServerSettings(user_runs=1)) as live:
        place = await run_of(live.client, echo)
        for _ in range(seen):
            runner.allowed.release()
        async with live.client.stream("POST", place, json={"stream": True}) as reply, aclosing(_data(reply)) as read:
            for _ in range(seen):
                await anext(read)
        await runner.left.wait()
        await until_free(live)
        (entry,) = (await live.client.get("/api/v1/runs")).json()["runs"]
        assert entry["state"] == ("succeeded" if seen > len(TOLD) else "cancelled")


@pytest.mark.parametrize("seen", range(len(TOLD) + 1))
async def test_a_run_that_nobody_waits_for_goes_on_when_a_follower_vanishes_after_any_event(
    seen: int, catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = Steps(results=[ran("done")])
    async with serving(assistant(catalogue, runner=runner)) as live:
        begun = (await live.client.post(await run_of(live.client, echo), json={"wait": False})).json()
        for _ in range(seen):
            runner.allowed.release()
        async with live.client.stream("GET", f"{begun['url']}/events") as reply, aclosing(_data(reply)) as read:
            for _ in range(min(seen, len(TOLD))):
                await anext(read)
        for _ in range(len(TOLD) + 1 - seen):
            runner.allowed.release()
        await runner.left.wait()
        await until_free(live)
        assert (await live.client.get(begun["url"])).json()["state"] == "succeeded"


@pytest.mark.parametrize("days", [-3_650, 3_650])
async def test_a_run_that_goes_on_is_not_lost_when_the_clock_jumps(
    days: int, catalogue: Catalogue, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Jumped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            jumped = datetime.now(tz or UTC) + timedelta(days=days)
            return cls.fromisoformat(jumped.isoformat())

    runner = Steps(results=[ran("done")])
    async with serving(assistant(catalogue, runner=runner)) as live:
        begun = (await live.client.post(await run_of(live.client, echo), json={"wait": False})).json()
        monkeypatch.setattr(runs, "datetime", Jumped)
        assert (await live.client.get(begun["url"])).json()["state"] == "running"
        for _ in range(len(TOLD) + 1):
            runner.allowed.release()
        await runner.left.wait()
        await until_free(live)
        assert (await live.client.get(begun["url"])).json()["state"] == "succeeded"


async def test_components_with_one_id_are_a_typed_refusal_or_a_fault_and_never_a_failure(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    flow: Any = echo
    data = flow["data"]
    twice = {**flow, "data": {**data, "nodes": [*data["nodes"], data["nodes"][0]], "edges": data["edges"] * 2}}
    runner = StandInRunner()
    async with serving(assistant(catalogue, runner=runner)) as live:
        stored = await live.client.post(FLOWS, json=twice)
        assert stored.status_code < 500
        if stored.status_code < 300:
            reply = await live.client.post(f"{FLOWS}/{stored.json()['id']}/run", json={})
            assert reply.status_code < 500
            assert not runner.asked, "what the engine would run is unclear"
        else:
            assert stored.json()["error"]["code"]


async def test_requests_with_one_id_are_requests_of_their_own(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        headers = {"X-Request-ID": "the-same"}
        replies = await asyncio.gather(*(live.client.post(FLOWS, json=echo, headers=headers) for _ in range(5)))
        assert {reply.status_code for reply in replies} == {201}
        assert len({reply.json()["id"] for reply in replies}) == 5


async def _data(reply: httpx.Response) -> AsyncGenerator[dict[str, Any]]:
    async for line in reply.aiter_lines():
        if line.startswith(DATA):
            yield event_of(line, RUN_STREAM_EVENTS)
