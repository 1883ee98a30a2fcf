"""Jobs and batches over HTTP, done by the server's own worker on either database."""

import asyncio
import json
from typing import Any

import anyio
import httpx
import pytest

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.results import RunError, RunMetrics, RunResult
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
BATCHES = "/api/v1/batches"
FAILED = RunError(code="crash", message="It broke.")


async def ended(client: httpx.AsyncClient, batch: str) -> dict[str, Any]:
    """A batch, once nothing more comes of it."""
    with anyio.fail_after(60):
        while not (found := (await client.get(f"{BATCHES}/{batch}")).raise_for_status().json())["ended"]:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.2)
    return found


async def lines(client: httpx.AsyncClient, batch: str) -> list[dict[str, Any]]:
    """The results of a batch."""
    answer = (await client.get(f"{BATCHES}/{batch}/results")).raise_for_status()
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_each_input_of_a_batch_is_run_once_and_has_its_result(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(results=[ran("said")])
    async with serving(assistant(catalogue, None, runner)) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        body = {"inputs": [f"text {at}" for at in range(30)], "id": "b"}
        begun = await live.client.post(f"{FLOWS}/{flow}/batch", json=body)
        assert (begun.status_code, begun.headers["location"]) == (202, f"{BATCHES}/b"), begun.text
        again = await live.client.post(f"{FLOWS}/{flow}/batch", json=body)
        assert (again.status_code, again.json()["total"]) == (202, 30)
        found = await ended(live.client, "b")
        assert (found["counts"], found["version"], found["reason"]) == ({"done": 30}, 1, "")
        assert [line["position"] for line in await lines(live.client, "b")] == list(range(30))
        assert {line["result"]["output"] for line in await lines(live.client, "b")} == {"said"}
        assert (await live.client.get("/api/v1/jobs")).json()["jobs"] == []
        assert (await live.client.get("/api/v1/runs")).json()["runs"] == []
        assert (await live.client.get("/api/v1/usage")).json()["total"]["runs"] == 30
        assert [one["id"] for one in (await live.client.get(BATCHES)).json()["batches"]] == ["b"]
        assert (await live.client.delete(f"{BATCHES}/b")).status_code == 204
        assert (await live.client.get(f"{BATCHES}/b")).status_code == 404
    assert sorted(text or "" for _, text in runner.asked) == sorted(f"text {at}" for at in range(30))


async def test_only_what_has_failed_is_run_again(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(results=[ran("said"), ran(error=FAILED), ran("said")])
    async with serving(assistant(catalogue, None, runner)) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        await live.client.post(f"{FLOWS}/{flow}/batch", json={"inputs": ["a", "b", "c"], "id": "b"})
        assert (await ended(live.client, "b"))["counts"] == {"done": 2, "failed": 1}
        (bad,) = [line for line in await lines(live.client, "b") if line["state"] == "failed"]
        assert bad["error"] == "It broke."
        untouched = await live.client.post(f"{BATCHES}/b/retry", json={"states": ["cancelled"]})
        assert (untouched.json()["ended"], untouched.json()["counts"]) == (True, {"done": 2, "failed": 1})
        part = await live.client.get(f"{BATCHES}/b/results", params={"after": 0, "limit": 1})
        assert [json.loads(line)["position"] for line in part.text.splitlines()] == [1]
        assert (await live.client.get(f"{BATCHES}/b/results", params={"limit": 0})).status_code == 422
        (await live.client.post(f"{BATCHES}/b/retry")).raise_for_status()
        assert (await ended(live.client, "b"))["counts"] == {"done": 3}
    assert len(runner.asked) == 4


async def test_a_batch_ends_at_its_ceiling_and_goes_on_with_a_higher_one(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    metrics = RunMetrics(seconds=0.5, input_tokens=60, output_tokens=40)
    runner = StandInRunner(results=[RunResult(run_id="r", output="said", outputs={}, metrics=metrics)])
    async with serving(assistant(catalogue, None, runner)) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        unknown = await live.client.post(f"{FLOWS}/{flow}/batch", json={"inputs": ["a"] * 20, "estimate": True})
        assert (unknown.status_code, unknown.json()) == (
            200,
            {"inputs": 20, "runs": 0, "tokens": None, "seconds": None, "dollars": None},
        )
        (await live.client.post(f"{FLOWS}/{flow}/run", json={"input_value": "hi"})).raise_for_status()
        (await live.client.get("/api/v1/runs")).raise_for_status()
        known = await live.client.post(f"{FLOWS}/{flow}/batch", json={"inputs": ["a"] * 20, "estimate": True})
        assert known.json() == {"inputs": 20, "runs": 1, "tokens": 2000, "seconds": 10.0, "dollars": None}
        body = {"inputs": ["a"] * 20, "id": "b", "ceiling_tokens": 500}
        (await live.client.post(f"{FLOWS}/{flow}/batch", json=body)).raise_for_status()
        found = await ended(live.client, "b")
        assert "as many tokens as it may" in found["reason"]
        assert 500 <= found["tokens"] <= 700, found
        (await live.client.post(f"{BATCHES}/b/retry", json={"ceiling_tokens": 5_000})).raise_for_status()
        found = await ended(live.client, "b")
        assert (found["counts"], found["tokens"], found["reason"]) == ({"done": 20}, 2_000, "")


async def test_a_batch_is_cancelled_and_a_job_of_it_shows_how_it_stands(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(hangs=True)
    async with serving(assistant(catalogue, None, runner)) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        await live.client.post(f"{FLOWS}/{flow}/batch", json={"inputs": ["a"] * 5, "id": "b"})
        with anyio.fail_after(30):
            await runner.running.wait()
        job = (await live.client.get("/api/v1/jobs/b.0")).json()
        assert (job["kind"], job["state"], job["attempts"], job["worker"] != "") == ("item", "running", 1, True)
        assert (await live.client.delete(f"{BATCHES}/b")).status_code == 409
        refused = await live.client.post("/api/v1/jobs/b.0/retry")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "job_not_failed")
        assert (await live.client.post("/api/v1/jobs/b.4/cancel")).json()["state"] == "cancelled"
        assert (await live.client.post("/api/v1/jobs/none/cancel")).status_code == 404
        (await live.client.post(f"{BATCHES}/b/cancel")).raise_for_status()
        found = await ended(live.client, "b")
        assert (found["counts"], found["reason"]) == ({"cancelled": 5}, "The batch was cancelled.")


async def test_an_id_is_that_of_the_same_flow_and_inputs_alone(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, None, StandInRunner(results=[ran("said")]))) as live:
        flow, other = [(await live.client.post(FLOWS, json=echo)).json()["id"] for _ in range(2)]
        body: dict[str, Any] = {"inputs": ["a", {"input_value": "b"}], "id": "b", "ceiling_tokens": 7}
        (await live.client.post(f"{FLOWS}/{flow}/batch", json=body)).raise_for_status()
        same = {"id": "b", "inputs": [{"input_value": "a"}, "b"], "ceiling_tokens": 9}
        assert (await live.client.post(f"{FLOWS}/{flow}/batch", json=same)).status_code == 202
        for place, sent, differs in (
            (other, body, "another flow"),
            (flow, {**body, "inputs": ["a"]}, "other inputs"),
            (flow, {**body, "inputs": ["b", "a"]}, "other inputs"),
            (flow, {**body, "timeout": 7}, "other inputs or options"),
            (flow, {**body, "tweaks": {"in": {"a": 1}}}, "other inputs or options"),
        ):
            refused = await live.client.post(f"{FLOWS}/{place}/batch", json=sent)
            assert (refused.status_code, refused.json()["error"]["code"]) == (422, "id_reused"), refused.text
            assert differs in refused.json()["error"]["message"]
        changed = await live.client.put(f"{FLOWS}/{flow}", json={**echo, "name": "New"}, headers={"If-Match": '"1"'})
        assert changed.status_code == 200
        again = await live.client.post(f"{FLOWS}/{flow}/batch", json=body)
        assert (again.status_code, again.json()["version"]) == (202, 1)
        assert (await live.client.get(BATCHES)).json()["total"] == 1


@pytest.mark.parametrize(
    ("wrong", "place", "said"),
    [
        (
            {"input_val": "typo"},
            "$.inputs.1",
            "An input has no key 'input_val'. It has: input_value, tweaks, session_id.",
        ),
        ({"input_value": "a", "foo": 1}, "$.inputs.1", "An input has no key 'foo'."),
        ({}, "$.inputs.1", "An input has at least one of: input_value, tweaks, session_id."),
        (7, "$.inputs.1", "should be an object"),
    ],
)
async def test_an_input_with_an_unknown_key_is_refused_before_anything_runs(
    wrong: object, place: str, said: str, catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = StandInRunner(results=[ran("said")])
    async with serving(assistant(catalogue, None, runner)) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        refused = await live.client.post(f"{FLOWS}/{flow}/batch", json={"inputs": ["a", wrong], "more": "is ignored"})
        error = refused.json()["error"]
        assert (refused.status_code, error["code"], error["where"]) == (422, "invalid_request", place)
        assert said in error["message"]
        assert "alue error" not in error["message"]
        assert "instance" not in error["message"]
        assert (await live.client.get(BATCHES)).json()["total"] == 0
    assert runner.asked == []
