"""Stored flows over real HTTP: losslessness, versions, pages, and runs that a client can leave."""

import anyio
import httpx
import pytest
from dirty_equals import IsStr

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.results import RunError
from tests.server.live import ASSIST, FLOWS, serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]


def code(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


async def test_a_flow_is_stored_listed_changed_and_removed(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        made = await live.client.post(FLOWS, json=echo)
        entry = made.json()
        assert made.status_code == 201
        assert (made.headers["etag"], made.headers["location"]) == ('"1"', f"{FLOWS}/{entry['id']}")
        assert entry == {
            "id": IsStr(regex="[0-9a-f-]{36}"),
            "name": "Echo",
            "node_count": 2,
            "edge_count": 1,
            "version": 1,
            "updated_at": IsStr(),
        }
        one = await live.client.get(made.headers["location"])
        assert one.json() == {**entry, "flow": echo}
        assert (await live.client.get(FLOWS)).json() == {
            "flows": [entry],
            "total": 1,
            "limit": 50,
            "offset": 0,
            "next": None,
        }
        changed = await live.client.put(f"{FLOWS}/{entry['id']}", json={"flow": {**echo, "name": "New"}, "version": 1})
        assert (changed.status_code, changed.json()["version"], changed.json()["name"]) == (200, 2, "New")
        assert (await live.client.delete(f"{FLOWS}/{entry['id']}")).status_code == 204
        assert code(await live.client.get(f"{FLOWS}/{entry['id']}")) == (404, "flow_not_found")
        assert code(await live.client.delete(f"{FLOWS}/{entry['id']}")) == (404, "flow_not_found")


async def test_bare_nodes_and_edges_and_wrapped_flows_are_taken(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        for document in (echo["data"], {"flow": echo}, {"flow": echo["data"]}):
            made = await live.client.post(FLOWS, json=document)
            assert (made.status_code, made.json()["node_count"]) == (201, 2)


async def test_a_name_beside_a_flow_is_its_name(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        for flow in (echo, echo["data"]):
            made = await live.client.post(FLOWS, json={"flow": flow, "name": "Another"})
            assert (made.status_code, made.json()["name"]) == (201, "Another")
            place = made.headers["location"]
            assert (await live.client.get(place)).json()["flow"]["name"] == "Another"
            changed = await live.client.put(place, json={"flow": flow, "name": "A third", "version": 1})
            assert (changed.status_code, changed.json()["name"]) == (200, "A third")
            kept = await live.client.put(place, json={"flow": echo, "name": None, "version": 2})
            assert (kept.status_code, kept.json()["name"]) == (200, "Echo")
        refused = await live.client.post(FLOWS, json={"flow": echo, "name": 7})
    assert code(refused) == (422, "invalid_request")
    assert refused.json()["error"]["where"] == "$.name"


async def test_what_is_not_a_flow_is_refused_with_its_place(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        for document, where in (
            ({}, "$"),
            ({"data": 7}, "$.data"),
            ({"flow": None}, "$.flow"),
            ({"flow": {"nodes": 1}}, "$.flow.nodes"),
            ({"nodes": [], "edges": [{"source": "a"}]}, "$.edges[0].target"),
        ):
            reply = await live.client.post(FLOWS, json=document)
            assert code(reply) == (422, "invalid_flow")
            assert reply.json()["error"]["where"] == where


async def test_a_change_is_refused_without_a_version_and_with_a_stale_one(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    async with serving(assistant(catalogue)) as live:
        place = (await live.client.post(FLOWS, json=echo)).headers["location"]
        assert code(await live.client.put(place, json={"flow": echo})) == (428, "version_required")
        assert (await live.client.put(place, json={**echo, "version": 1})).json()["version"] == 2
        assert (await live.client.put(place, json=echo, headers={"If-Match": '"2"'})).json()["version"] == 3
        assert (await live.client.put(place, json=echo, headers={"If-Match": 'W/"3"'})).json()["version"] == 4
        stale = await live.client.put(place, json={"flow": echo, "version": 3})
        assert code(stale) == (409, "version_conflict")
        assert stale.headers["etag"] == '"4"'
        assert code(await live.client.put(f"{FLOWS}/none", json={"flow": echo, "version": 1})) == (
            404,
            "flow_not_found",
        )
        assert (await live.client.get(place)).json()["flow"] == echo, "a version in the body is no part of the flow"
        for wrong in ("one", 0, -1, True, 1.5, 2**70, [1]):
            assert code(await live.client.put(place, json={"flow": echo, "version": wrong})) == (422, "invalid_request")
        assert code(await live.client.put(place, json=echo, headers={"If-Match": "*"})) == (422, "invalid_request")


async def test_pages_have_limits(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        for _ in range(3):
            await live.client.post(FLOWS, json=echo)
        page = (await live.client.get(FLOWS, params={"limit": 2, "offset": 2})).json()
        assert (len(page["flows"]), page["total"], page["limit"], page["offset"]) == (1, 3, 2, 2)
        for wrong in ("limit=0", "limit=201", "limit=x", "offset=-1", "offset=1e3", "limit=" + "9" * 99, "limit=٣"):
            reply = await live.client.get(f"{FLOWS}?{wrong}")
            assert code(reply) == (422, "invalid_request"), wrong


async def test_a_stored_flow_is_run_with_the_text_that_is_sent(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(results=[ran("hello")])
    async with serving(assistant(catalogue, runner=runner)) as live:
        place = (await live.client.post(FLOWS, json=echo)).headers["location"]
        reply = await live.client.post(f"{place}/run", json={"input_value": "hello", "timeout": 5})
        assert reply.status_code == 200
        assert reply.json() == {**ran("hello").to_json(), "run_id": reply.json()["run_id"]}
        assert (await live.client.post(f"{place}/run")).status_code == 200
        assert [text for _, text in runner.asked] == ["hello", None]


async def test_a_run_that_fails_is_a_reply_and_no_http_error(catalogue: Catalogue, echo: JsonObject) -> None:
    error = RunError(code="timeout", message="It took too long.", fix="Raise the limit.")
    async with serving(assistant(catalogue, runner=StandInRunner(results=[ran(error=error)]))) as live:
        place = (await live.client.post(FLOWS, json=echo)).headers["location"]
        reply = await live.client.post(f"{place}/run", json={})
    assert (reply.status_code, reply.json()["ok"], reply.json()["error"]) == (200, False, error.to_json())


async def test_a_flow_with_faults_is_not_run(catalogue: Catalogue, echo: JsonObject) -> None:
    data = echo["data"]
    assert isinstance(data, dict)
    assert isinstance(data["edges"], list)
    edge = data["edges"][0]
    assert isinstance(edge, dict)
    broken = {"nodes": data["nodes"], "edges": [{**edge, "source": "Nobody-1"}]}
    runner = StandInRunner()
    async with serving(assistant(catalogue, runner=runner)) as live:
        place = (await live.client.post(FLOWS, json=broken)).headers["location"]
        reply = (await live.client.post(f"{place}/run", json={})).json()
    assert (reply["ok"], reply["error"]["code"]) == (False, "wiring")
    assert reply["faults"][0]["severity"] == "error"
    assert runner.asked == []


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"timeout": 10_000}, {"timeout": "soon"}, {"input_value": 7}])
async def test_a_run_with_a_wrong_field_is_refused(
    wrong: dict[str, object], catalogue: Catalogue, echo: JsonObject
) -> None:
    async with serving(assistant(catalogue)) as live:
        place = (await live.client.post(FLOWS, json=echo)).headers["location"]
        assert code(await live.client.post(f"{place}/run", json=wrong)) == (422, "invalid_request")


async def test_a_run_does_not_wait_when_the_engine_is_unavailable(catalogue: Catalogue, echo: JsonObject) -> None:
    failure = RunError(code="crash", message="It could not be installed.", fix="wirewright runner install")
    async with serving(assistant(catalogue, runner=StandInRunner(failure=failure, state="failed"))) as live:
        place = (await live.client.post(FLOWS, json=echo)).headers["location"]
        reply = await live.client.post(f"{place}/run", json={})
        assert code(reply) == (503, "runner_not_ready")
        assert reply.headers["retry-after"]
        assert code(await live.client.post(f"{FLOWS}/none/run", json={})) == (404, "flow_not_found")


async def test_a_lost_client_cancels_its_run_while_others_are_answered(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(hangs=True)
    async with serving(assistant(catalogue, runner=runner)) as live:
        place = (await live.client.post(FLOWS, json=echo)).headers["location"]
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                await live.client.post(f"{place}/run", json={})

            tasks.start_soon(ask)
            await runner.running.wait()
            assert (await live.client.get("/healthz")).status_code == 200
            tasks.cancel_scope.cancel()
        with anyio.fail_after(10):
            await runner.cancelled.wait()


async def test_an_unavailable_store_is_a_503_and_turns_without_it_continue(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_DATABASE", "sqlite+aiosqlite:////dev/null/flows.db")
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.get(FLOWS)
        assert code(reply) == (503, "store_unavailable")
        assert "/dev/null" not in reply.text
        assert (await live.client.post(ASSIST, json={"input_value": "What is Chat Input?"})).status_code == 200
