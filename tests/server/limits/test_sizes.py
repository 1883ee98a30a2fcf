"""How large a body, a message, a file and a flow may be, and how many of them a user may have."""

import json

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow, Json, JsonObject
from server.settings import ServerSettings
from tests.server.limits.conftest import user
from tests.server.live import ASSIST, FLOWS, STREAM, events, serving
from tests.shared.flow_texts import ECHO, flow_of, large_flow
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
FILES = "/api/v1/files"


@pytest.mark.parametrize("path", [ASSIST, STREAM])
async def test_a_message_has_a_length(path: str, catalogue: Catalogue) -> None:
    model = ScriptedModel("off_topic", "No.")
    async with serving(assistant(catalogue, model), ServerSettings(message_limit=100)) as live:
        long = await live.client.post(path, json={"input_value": "x" * 101})
        fits = await live.client.post(path, json={"input_value": "x" * 100})
    assert (long.status_code, long.json()["error"]["code"]) == (413, "message_too_long")
    assert (long.json()["error"]["where"], fits.status_code) == ("$.input_value", 200)


async def test_a_body_has_a_size(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue), ServerSettings(body_limit=2_000)) as live:
        large = await live.client.put("/api/v1/variables/GREETING", json={"value": "x" * 2_000})
    assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")


async def test_a_flow_of_300_components_is_stored_changed_and_brought_in_with_the_limits_as_they_come(
    catalogue: Catalogue,
) -> None:
    large = large_flow(catalogue).to_json()
    settings = ServerSettings()
    assert settings.body_limit < len(json.dumps(large)) < settings.flow_body_limit
    async with serving(assistant(catalogue, ScriptedModel("off_topic", "No.")), settings) as live:
        made = await live.client.post(FLOWS, json=large)
        assert made.status_code == 201, made.text
        place = f"{FLOWS}/{made.json()['id']}"
        node = Flow.from_json(large).nodes[0]
        another = json.loads(json.dumps(node.raw).replace(node.id, "another"))
        adding = {"kind": "add_component", "node": another, "index": 0}
        replies = [
            await live.client.put(place, json={"version": 1, "flow": {**large, "name": "Renamed"}}),
            await live.client.patch(place, json={"version": 2, "actions": [adding]}),
            await live.client.post(f"{FLOWS}/import", json=[large]),
            await live.client.post(ASSIST, json={"input_value": "Hi", "flow": large}),
        ]
        stored = (await live.client.get(place)).json()
    assert [reply.status_code for reply in replies] == [200, 200, 201, 200], [reply.text[:200] for reply in replies]
    assert (stored["node_count"], stored["version"], stored["name"]) == (301, 3, "Renamed")


async def test_a_body_with_a_flow_has_a_size_of_its_own(catalogue: Catalogue, echo: JsonObject) -> None:
    large: JsonObject = {**echo, "description": "x" * 50_000}
    async with serving(assistant(catalogue), ServerSettings(flow_body_limit=50_000)) as live:
        made = (await live.client.post(FLOWS, json=echo)).json()["id"]
        for reply in (
            await live.client.post(FLOWS, json=large),
            await live.client.put(f"{FLOWS}/{made}", json={"version": 1, "flow": large}),
            await live.client.patch(f"{FLOWS}/{made}", json={"version": 1, "actions": [{"kind": "x" * 50_000}]}),
            await live.client.post(f"{FLOWS}/import", json=[large]),
            await live.client.post(ASSIST, json={"input_value": "Hi", "flow": large}),
            await live.client.post(STREAM, json={"input_value": "Hi", "flow": large}),
        ):
            assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large"), reply.text
        kept = (await live.client.get(f"{FLOWS}/{made}")).json()
    assert kept["version"] == 1


async def test_a_user_has_a_number_of_flows_and_others_have_their_own(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue), ServerSettings(flows_limit=2)) as live, user(live, "eve") as eve:
        first = (await live.client.post(FLOWS, json=echo)).json()["id"]
        over = await live.client.post(f"{FLOWS}/import", json=[echo, echo])
        assert (over.status_code, over.json()["error"]["code"]) == (409, "too_many_flows")
        assert (await live.client.get(FLOWS)).json()["total"] == 1, "all of an import or none of it"
        assert (await live.client.post(f"{FLOWS}/{first}/duplicate")).status_code == 201
        for again in (
            await live.client.post(FLOWS, json=echo),
            await live.client.post(f"{FLOWS}/{first}/duplicate"),
        ):
            assert (again.status_code, again.json()["error"]["code"]) == (409, "too_many_flows")
        assert (await eve.post(FLOWS, json=echo)).status_code == 201
        assert (await live.client.delete(f"{FLOWS}/{first}")).status_code == 204
        assert (await live.client.post(FLOWS, json=echo)).status_code == 201


async def test_a_flow_has_a_number_of_components_at_every_route(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue), ServerSettings(nodes_limit=1)) as live:
        empty = (await live.client.post(FLOWS, json={"name": "e", "data": {"nodes": [], "edges": []}})).json()["id"]
        nodes = [node.raw for node in Flow.from_json(echo).nodes]
        adding: list[dict[str, Json]] = [{"kind": "add_component", "node": node, "index": 0} for node in nodes]
        for reply in (
            await live.client.post(FLOWS, json=echo),
            await live.client.post(f"{FLOWS}/import", json=[echo]),
            await live.client.put(f"{FLOWS}/{empty}", json={"flow": echo, "version": 1}),
            await live.client.post(ASSIST, json={"input_value": "Hi", "flow": echo}),
            await live.client.post(STREAM, json={"input_value": "Hi", "flow": echo}),
            await live.client.patch(f"{FLOWS}/{empty}", json={"actions": adding, "version": 1}),
        ):
            assert (reply.status_code, reply.json()["error"]["code"]) == (422, "flow_too_large"), reply.text


async def test_a_turn_stores_no_flow_beyond_the_limit_and_says_so(catalogue: Catalogue) -> None:
    settings = ServerSettings(nodes_limit=1, model="demo")
    async with serving(assistant(catalogue), settings) as live:
        empty = (await live.client.post(FLOWS, json={"name": "e", "data": {"nodes": [], "edges": []}})).json()["id"]
        told = await events(
            live.client, input_value="Build an echo flow", flow_id=empty, provider="demo", apply="always"
        )
        stored = (await live.client.get(f"{FLOWS}/{empty}")).json()
    assert stored["node_count"] == 0
    assert "limit" in str(told[-1]) or told[-1]["event"] == "complete"


async def test_files_have_a_size_a_total_and_a_number(catalogue: Catalogue) -> None:
    settings = ServerSettings(file_limit=2_000, files_total_limit=3_000, files_count_limit=2)
    async with serving(assistant(catalogue), settings) as live, user(live, "eve") as eve:

        async def upload(name: str, size: int) -> tuple[int, str | None]:
            reply = await live.client.post(FILES, files={"file": (name, bytes(size))})
            return reply.status_code, reply.json().get("error", {}).get("code")

        assert await upload("a.bin", 2_001) == (413, "too_large")
        assert await upload("a.bin", 2_000) == (201, None)
        assert await upload("b.bin", 1_001) == (409, "files_full")
        assert await upload("b.bin", 10) == (201, None)
        assert await upload("c.bin", 10) == (409, "files_full")
        limits = (await live.client.get(FILES)).json()["limits"]
        assert limits == {"file_bytes": 2_000, "total_bytes": 3_000, "files": 2}
        assert (await eve.post(FILES, files={"file": ("a.bin", bytes(2_000))})).status_code == 201


def test_the_flow_of_these_tests_has_more_than_one_component(catalogue: Catalogue) -> None:
    assert len(flow_of(ECHO, catalogue).nodes) > 1
