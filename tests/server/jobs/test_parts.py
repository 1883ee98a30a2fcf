"""Batches whose inputs come in parts: one batch, however and how often the parts come."""

import asyncio
import json
from typing import Any

import anyio
import httpx
import pytest

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.results import RunMetrics, RunResult
from tests.server.live import FLOWS, Live, serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
BATCHES = "/api/v1/batches"
TEXTS = [f"text {at}" for at in range(9)]


def part(first: int, last: int, **more: Any) -> dict[str, Any]:
    """The body for some of the inputs."""
    return {"id": "b", "inputs": TEXTS[first:last], "first": first, "total": len(TEXTS), **more}


async def flow_of(live: Live, echo: JsonObject) -> str:
    """The address for batches of a new flow."""
    return f"{FLOWS}/{(await live.client.post(FLOWS, json=echo)).json()['id']}/batch"


async def ended(client: httpx.AsyncClient) -> dict[str, Any]:
    """The batch, once nothing more comes of it."""
    with anyio.fail_after(60):
        while not (found := (await client.get(f"{BATCHES}/b")).raise_for_status().json())["ended"]:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.1)
    return found


async def all_done(client: httpx.AsyncClient, count: int) -> None:
    """Wait until so many inputs are done."""
    with anyio.fail_after(60):
        while (await client.get(f"{BATCHES}/b")).json()["counts"] != {"done": count}:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.1)


async def test_parts_are_one_batch_in_whatever_order_and_however_often_they_come(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = StandInRunner(results=[ran("said")])
    async with serving(assistant(catalogue, None, runner)) as live:
        place = await flow_of(live, echo)
        for first, last in ((6, 9), (0, 4), (0, 4)):
            sent = await live.client.post(place, json=part(first, last))
            assert (sent.status_code, sent.json()["total"], sent.json()["id"]) == (202, 9, "b"), sent.text
        await all_done(live.client, 7)
        half = (await live.client.get(f"{BATCHES}/b")).json()
        assert (half["ended"], half["total"]) == (False, 9)
        assert (await live.client.delete(f"{BATCHES}/b")).status_code == 409
        for first, last in ((3, 7), (0, 9)):
            assert (await live.client.post(place, json=part(first, last))).status_code == 202
        found = await ended(live.client)
        assert (found["counts"], found["version"]) == ({"done": 9}, 1)
        whole = await live.client.post(place, json={"id": "b", "inputs": TEXTS})
        assert (whole.status_code, whole.json()["ended"]) == (202, True)
        lines = (await live.client.get(f"{BATCHES}/b/results")).text.splitlines()
        assert [json.loads(line)["position"] for line in lines] == list(range(9))
        assert (await live.client.get(BATCHES)).json()["total"] == 1
        assert (await live.client.get("/api/v1/usage")).json()["total"]["runs"] == 9
    assert sorted(text or "" for _, text in runner.asked) == TEXTS


async def test_a_part_of_something_else_is_refused(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, None, StandInRunner(results=[ran("said")]))) as live:
        place, other = await flow_of(live, echo), await flow_of(live, echo)
        assert (await live.client.post(place, json=part(0, 4))).status_code == 202
        for at, sent in (
            (other, part(4, 9)),
            (place, part(3, 9, total=10)),
            (place, part(4, 9, timeout=7)),
            (place, {**part(3, 6), "inputs": ["text 3", "text 4", "another"], "first": 2}),
            (place, {"id": "b", "inputs": ["text 0"]}),
        ):
            refused = await live.client.post(at, json=sent)
            assert (refused.status_code, refused.json()["error"]["code"]) == (422, "id_reused"), refused.text
        for sent in (part(4, 9, id=None), {**part(4, 9), "first": 5}, {"inputs": TEXTS, "first": 1}, part(-1, 1)):
            refused = await live.client.post(place, json=sent)
            assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_request"), refused.text
        assert (await live.client.get(BATCHES)).json()["total"] == 1


async def test_a_ceiling_holds_for_parts_that_come_later(catalogue: Catalogue, echo: JsonObject) -> None:
    metrics = RunMetrics(seconds=0.5, input_tokens=60, output_tokens=40)
    runner = StandInRunner(results=[RunResult(run_id="r", output="said", outputs={}, metrics=metrics)])
    async with serving(assistant(catalogue, None, runner)) as live:
        place = await flow_of(live, echo)
        (await live.client.post(place, json=part(0, 4, ceiling_tokens=400))).raise_for_status()
        await all_done(live.client, 4)
        (await live.client.post(place, json=part(4, 6))).raise_for_status()
        assert (await ended(live.client))["counts"] == {"cancelled": 2, "done": 4}
        late = (await live.client.post(place, json=part(6, 9))).json()
        assert (late["counts"], late["ended"]) == ({"cancelled": 5, "done": 4}, True)
        assert "as many tokens as it may" in late["reason"]
        (await live.client.post(f"{BATCHES}/b/retry", json={"ceiling_tokens": 5_000})).raise_for_status()
        found = await ended(live.client)
        assert (found["counts"], found["tokens"]) == ({"done": 9}, 900)
    assert len(runner.asked) == 9


async def test_a_batch_that_was_cancelled_by_half_runs_nothing_more_until_it_is_tried_again(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = StandInRunner(results=[ran("said")])
    async with serving(assistant(catalogue, None, runner)) as live:
        place = await flow_of(live, echo)
        (await live.client.post(place, json=part(0, 4))).raise_for_status()
        await all_done(live.client, 4)
        stopped = (await live.client.post(f"{BATCHES}/b/cancel")).json()
        assert (stopped["ended"], stopped["counts"], stopped["reason"]) == (
            True,
            {"done": 4},
            "The batch was cancelled.",
        )
        late = (await live.client.post(place, json=part(4, 9))).json()
        assert (late["ended"], late["counts"]) == (True, {"cancelled": 5, "done": 4})
        assert len(runner.asked) == 4
        (await live.client.post(f"{BATCHES}/b/retry")).raise_for_status()
        assert (await ended(live.client))["counts"] == {"done": 9}
        assert (await live.client.delete(f"{BATCHES}/b")).status_code == 204
    assert len(runner.asked) == 9
