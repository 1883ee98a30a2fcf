"""What ran, over real HTTP: listed, read and erased, whoever ran it."""

from dataclasses import replace

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import JsonObject
from tests.server.live import FLOWS, events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
RUNS = "/api/v1/runs"


async def test_runs_of_turns_and_of_requests_are_kept_and_erased(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(results=[ran("first"), replace(ran("second"), run_id="run-2")])
    model = ScriptedModel("run_flow", call("run_flow", 1, input="hello"), "It said: first")
    async with serving(assistant(catalogue, model, runner)) as live:
        flow_id = (await live.client.post(FLOWS, json=echo)).json()["id"]
        await events(live.client, input_value="Run it with hello", flow_id=flow_id, session_id="s")
        await live.client.post(f"{FLOWS}/{flow_id}/run", json={"input_value": "again"})
        listed = (await live.client.get(RUNS)).json()
        one = (await live.client.get(f"{RUNS}/{listed['runs'][0]['id']}")).json()
        page = (await live.client.get(RUNS, params={"limit": 1, "offset": 1})).json()
        erased = await live.client.delete(f"{RUNS}/{one['id']}")
        gone = await live.client.get(f"{RUNS}/{one['id']}")
        again = await live.client.delete(f"{RUNS}/{one['id']}")
        left = (await live.client.get(RUNS)).json()["total"]
        await live.client.delete(RUNS)
        none = (await live.client.get(RUNS)).json()
    assert [(run["source"], run["input"], run["output"], run["flow"], run["session"]) for run in listed["runs"]] == [
        ("http", "again", "second", flow_id, ""),
        ("assistant", "hello", "first", flow_id, "s"),
    ]
    assert {name: one[name] for name in listed["runs"][0]} == listed["runs"][0]
    assert (one["result"]["outputs"], one["cut"]) == ({"answer": "second"}, False)
    assert (page["runs"], page["total"]) == ([listed["runs"][1]], 2)
    assert (erased.status_code, gone.status_code, again.status_code) == (204, 404, 404)
    assert gone.json()["error"]["code"] == "run_not_found"
    assert (left, none["total"], none["runs"]) == (1, 0, [])


async def test_a_streamed_run_is_kept_too(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(results=[ran("streamed")])
    async with serving(assistant(catalogue, ScriptedModel(), runner)) as live:
        flow_id = (await live.client.post(FLOWS, json=echo)).json()["id"]
        await live.client.post(f"{FLOWS}/{flow_id}/run", json={"input_value": "hi", "stream": True})
        listed = (await live.client.get(RUNS)).json()["runs"]
    assert [(run["input"], run["output"]) for run in listed] == [("hi", "streamed")]
