"""Usage over HTTP: one's own by day and model, everybody's for an admin, and a cost only where it is known."""

import httpx
import pytest

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.results import RunMetrics, RunResult
from tests.server.limits.conftest import Calendar, user
from tests.server.live import ASSIST, FLOWS, STREAM, events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
USAGE = "/api/v1/usage"


def ran_with_tokens() -> RunResult:
    metrics = RunMetrics(seconds=0.1, input_tokens=7, output_tokens=3, model_calls=2)
    return RunResult(run_id="r", output="x", outputs={}, metrics=metrics)


async def shown(client: httpx.AsyncClient, **asked: str) -> list[JsonObject]:
    reply = await client.get(USAGE, params=asked)
    assert reply.status_code == 200, reply.text
    return reply.json()["usage"]


async def test_turns_and_runs_are_counted_once_each(catalogue: Catalogue, echo: JsonObject) -> None:
    model, clock = ScriptedModel("off_topic", "No.", "question", "An answer of words."), Calendar()
    who = assistant(catalogue, model, StandInRunner(results=[ran_with_tokens()]))
    who.usage_log.clock = clock
    async with serving(who) as live:
        await live.client.post(ASSIST, json={"input_value": "Hello"})
        await events(live.client, input_value="Why?")
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        for body in ({}, {"stream": True}):
            await live.client.post(f"{FLOWS}/{flow}/run", json=body)
        rows = await shown(live.client, by="model,day")
        whole = (await live.client.get(USAGE)).json()
    flows, scripted = rows
    assert flows == {
        "day": "2026-11-26", "model": "flows", "input_tokens": 14, "output_tokens": 6, "cached_tokens": 0,
        "requests": 4, "turns": 0, "runs": 2, "cost": None,
    }  # fmt: skip
    assert (scripted["model"], scripted["turns"], scripted["requests"]) == ("scripted:scripted", 2, 4)
    assert scripted["cost"] is None, "nobody knows what a script costs"
    assert (whole["from"], whole["to"], whole["by"]) == ("2026-10-28", "2026-11-26", ["day"])
    assert (whole["total"]["turns"], whole["total"]["runs"], len(whole["usage"])) == (2, 2, 1)


async def test_a_turn_of_the_demo_planner_costs_nothing(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        await live.client.post(ASSIST, json={"input_value": "Hello", "provider": "demo"})
        (row,) = await shown(live.client, by="model")
    assert row["turns"] == 1
    assert row["cost"] in (0, None)


async def test_a_turn_that_fails_is_counted_too(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", ValueError("gone")))) as live:
        await live.client.post(ASSIST, json={"input_value": "Why?"})
        (failed,) = await shown(live.client)
    assert failed["turns"] == 1


async def test_a_turn_that_its_client_leaves_is_counted_too(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "x", blocks_at=1)
    who = assistant(catalogue, model)
    async with serving(who) as live:
        async with live.client.stream("POST", STREAM, json={"input_value": "Why?"}):
            await model.blocked.wait()
        await model.cancelled.wait()
    await who.usage_log.aclose()
    used = await who.usage_log.today("local")
    await who.database.aclose()
    assert (used.turns, used.requests) == (1, 1)


async def test_one_sees_ones_own_and_an_admin_everybodys(catalogue: Catalogue) -> None:
    async with (
        serving(assistant(catalogue, ScriptedModel(*("off_topic", "No.") * 3))) as live,
        user(live, "ada") as ada,
        user(live, "eve") as eve,
        user(live, "boss", "admin") as boss,
    ):
        for client in (ada, ada, eve):
            await client.post(ASSIST, json={"input_value": "Hello"})
        assert [row["turns"] for row in await shown(ada)] == [2]
        assert {row["user"]: row["turns"] for row in await shown(ada, by="user")} == {"ada": 2}
        assert await shown(boss) == []
        everybody = await shown(boss, by="user", users="all")
        assert {row["user"]: row["turns"] for row in everybody} == {"ada": 2, "eve": 1}
        refused = await ada.get(USAGE, params={"users": "all"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "missing_scope")


@pytest.mark.parametrize(
    "asked",
    [
        {"from": "yesterday"},
        {"to": "2026-02-30"},
        {"from": "2026-11-26", "to": "2026-11-25"},
        {"from": "1900-01-01", "to": "2026-11-25"},
        {"by": "hour"},
        {"users": "eve"},
    ],
)
async def test_what_cannot_be_read_is_named(asked: dict[str, str], catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.get(USAGE, params=asked)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_request")
    assert reply.json()["error"]["where"].removeprefix("?") in asked
