"""How many turns and runs go on at once: a typed refusal whose `Retry-After` is true, and never another user's."""

import asyncio
from typing import Any

import httpx
import pytest

from agent.conversation.queue import WAITING
from flows.catalogue import Catalogue
from flows.document import JsonObject
from server.settings import ServerSettings
from tests.server.limits.conftest import Seconds, state_of, user
from tests.server.live import ASSIST, FLOWS, STREAM, events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio
ASKS = {"input_value": "Hello"}


def refused(reply: httpx.Response, code: str) -> int:
    """The seconds that a refusal says."""
    assert (reply.status_code, reply.json()["error"]["code"]) == (429, code), reply.text
    return int(reply.headers["retry-after"])


@pytest.mark.parametrize("path", [ASSIST, STREAM])
async def test_a_turn_beyond_the_limit_passes_when_it_was_told_to_come_back_and_not_a_second_before(
    path: str, catalogue: Catalogue
) -> None:
    model = ScriptedModel("off_topic", "No.", "off_topic", "No.", blocks_at=0)
    settings, clock = ServerSettings(user_turns=1, work_seconds=90.5), Seconds()
    async with serving(assistant(catalogue, model), settings) as live:
        state_of(live).turn_slots.clock = clock
        first = asyncio.create_task(events(live.client, **ASKS))
        await model.blocked.wait()
        model.blocks_at = None
        clock.now += 0.75
        wait = refused(await live.client.post(path, json=ASKS), "too_many_turns")
        assert wait == 90, "89.75 s are left"
        async with user(live, "eve") as eve:
            assert (await eve.post(path, json=ASKS)).status_code == 200, "another user's limit is not hers"
        clock.now += wait - 1
        assert refused(await live.client.post(path, json=ASKS), "too_many_turns") == 1
        clock.now += 1
        assert (await live.client.post(path, json=ASKS)).status_code == 200
        ended = (await first)[-1]
        assert (ended["event"], ended["code"]) == ("error", "timeout")
        assert len(state_of(live).turn_slots) == 0


async def test_a_message_beyond_those_that_may_wait_is_told_when_one_of_them_is_answered(catalogue: Catalogue) -> None:
    model = ScriptedModel(*["off_topic", "No."] * 12, blocks_at=0)
    settings, clock = ServerSettings(user_turns=20, turns=20, work_seconds=90.5), Seconds()
    asks, who = {**ASKS, "session_id": "s"}, assistant(catalogue, model)
    async with serving(who, settings) as live:
        state_of(live).turn_slots.clock = clock
        first = asyncio.create_task(events(live.client, **asks))
        await model.blocked.wait()
        model.blocks_at = None
        others = [asyncio.create_task(events(live.client, **asks)) for _ in range(WAITING)]
        for _ in range(1_000):
            if who.queue.waiting("local", "s") == WAITING:
                break
            await asyncio.sleep(0.01)
        clock.now += 0.75
        assert refused(await live.client.post(ASSIST, json=asks), "queue_full") == 90, "89.75 s are left"
        streamed = (await events(live.client, **asks))[-1]
        assert (streamed["event"], streamed["code"]) == ("error", "queue_full")
        clock.now += 90
        assert (await live.client.post(ASSIST, json={**ASKS, "session_id": "t"})).status_code == 200
        assert (await first)[-1]["code"] == "timeout", "so that another one may wait"
        await asyncio.gather(*others)


async def test_a_run_beyond_the_limit_passes_when_it_was_told_to_come_back(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = StandInRunner(hangs=True)
    settings, clock = ServerSettings(user_runs=1, work_seconds=60), Seconds()
    async with serving(assistant(catalogue, runner=runner), settings) as live, user(live, "eve") as eve:
        state_of(live).run_slots.clock = clock
        mine, hers = [(await client.post(FLOWS, json=echo)).json()["id"] for client in (live.client, eve)]
        first = asyncio.create_task(live.client.post(f"{FLOWS}/{mine}/run", json={}))
        await runner.running.wait()
        runner.hangs = False
        wait = refused(await live.client.post(f"{FLOWS}/{mine}/run", json={}), "too_many_runs")
        assert (await eve.post(f"{FLOWS}/{hers}/run", json={})).status_code == 200
        clock.now += wait - 1
        for body in ({}, {"stream": True}):
            assert refused(await live.client.post(f"{FLOWS}/{mine}/run", json=body), "too_many_runs") == 1
        clock.now += 1
        assert (await live.client.post(f"{FLOWS}/{mine}/run", json={})).status_code == 200
        ended = await first
        assert (ended.status_code, ended.json()["error"]["code"]) == (504, "timeout")
        assert len(state_of(live).run_slots) == 0


async def test_a_streamed_run_that_takes_too_long_says_so(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(hangs=True)
    async with serving(assistant(catalogue, runner=runner), ServerSettings(work_seconds=0.2)) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        reply = await live.client.post(f"{FLOWS}/{flow}/run", json={"stream": True})
        assert "longer than it may" in reply.text.splitlines()[-2] + reply.text
        assert len(state_of(live).run_slots) == 0


async def test_all_users_together_have_a_limit_too(catalogue: Catalogue) -> None:
    model = ScriptedModel("off_topic", "No.", blocks_at=0)
    settings, clock = ServerSettings(turns=1, work_seconds=30), Seconds()
    async with serving(assistant(catalogue, model), settings) as live, user(live, "eve") as eve:
        state_of(live).turn_slots.clock = clock
        first = asyncio.create_task(live.client.post(ASSIST, json=ASKS))
        await model.blocked.wait()
        assert refused(await eve.post(ASSIST, json=ASKS), "too_many_turns") == 30
        model.blocks_at = None
        model.released.set()
        assert (await first).status_code == 200
        model.replies += ["off_topic", "No."]
        assert (await eve.post(ASSIST, json=ASKS)).status_code == 200, "a place is free as soon as its turn has ended"


@pytest.mark.parametrize("body", [{"input_value": 7}, {"input_value": "x", "flow_id": "none"}, {}])
async def test_a_refused_request_keeps_no_place(body: dict[str, Any], catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel("off_topic", "No.")), ServerSettings(user_turns=1)) as live:
        for _ in range(3):
            assert (await live.client.post(ASSIST, json=body)).status_code in (404, 422)
        unknown = await live.client.post(ASSIST, json={**ASKS, "provider": "none"})
        assert unknown.status_code in (200, 400)
        assert len(state_of(live).turn_slots) == 0


async def test_a_client_that_leaves_gives_its_place_back(catalogue: Catalogue) -> None:
    model = ScriptedModel("off_topic", "No.", blocks_at=0)
    async with serving(assistant(catalogue, model), ServerSettings(user_turns=1)) as live:
        async with live.client.stream("POST", STREAM, json=ASKS):
            await model.blocked.wait()
            assert len(state_of(live).turn_slots) == 1
        await model.cancelled.wait()
        for _ in range(1_000):
            if not len(state_of(live).turn_slots):
                return
            await asyncio.sleep(0.01)
    raise AssertionError("its place was never given back")
