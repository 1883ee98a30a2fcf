"""What a stored flow still needs, over HTTP."""

from typing import Any

import httpx
import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from tests.server.live import FLOWS, serving
from tests.shared.flow_texts import AGENT, ECHO
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
KEY = "OPENAI_API_KEY"


async def stored(client: httpx.AsyncClient, flow: Flow) -> str:
    return (await client.post(FLOWS, json=flow.to_json())).json()["id"]


async def needs(client: httpx.AsyncClient, flow: str) -> list[tuple[str, str, str]]:
    reply = (await client.get(f"{FLOWS}/{flow}/needs")).json()
    return [(one["kind"], one["title"], one["name"]) for one in reply["needs"]]


def made(spec: str, catalogue: Catalogue) -> Flow:
    flow = build(spec, catalogue).flow
    assert flow is not None
    return flow


async def test_a_flow_that_can_run_needs_nothing(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        assert await needs(live.client, await stored(live.client, made(ECHO, catalogue))) == []


async def test_a_model_is_needed_until_a_provider_has_a_key(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        flow = await stored(live.client, made(AGENT, catalogue))
        assert await needs(live.client, flow) == [("model", "Agent", "")]
        key = {"values": {KEY: "sk-a-key-of-this-test-1234"}}
        (await live.client.put("/api/v1/providers/openai", json=key)).raise_for_status()
        assert await needs(live.client, flow) == []


async def test_a_provider_that_a_field_names_is_needed_by_name(catalogue: Catalogue) -> None:
    spec = f"{AGENT}config:\n  g.model: anthropic:claude-haiku\n"
    async with serving(assistant(catalogue)) as live:
        assert await needs(live.client, await stored(live.client, made(spec, catalogue))) == [
            ("model", "Agent", "anthropic")
        ]


async def test_a_file_is_needed_until_it_is_there(catalogue: Catalogue) -> None:
    spec = "nodes:\n  f: File\n  b: ChatOutput\nedges:\n  f.message -> b.input_value\nconfig:\n  f.path: hours.txt\n"
    async with serving(assistant(catalogue)) as live:
        flow = await stored(live.client, made(spec, catalogue))
        [lacking] = await needs(live.client, flow)
        assert (lacking[0], lacking[2]) == ("file", "hours.txt")
        (await live.client.post("/api/v1/files", files={"file": ("hours.txt", b"nine")})).raise_for_status()
        assert await needs(live.client, flow) == []


async def test_a_secret_is_needed_by_the_name_of_its_variable(catalogue: Catalogue) -> None:
    spec = f"{AGENT}config:\n  g.api_key: MY_SEARCH_KEY\n"
    async with serving(assistant(catalogue)) as live:
        flow = await stored(live.client, made(spec, catalogue))
        assert ("secret", "Agent", "MY_SEARCH_KEY") in await needs(live.client, flow)
        (await live.client.put("/api/v1/variables/MY_SEARCH_KEY", json={"value": "a value"})).raise_for_status()
        assert [kind for kind, _, _ in await needs(live.client, flow)] == ["model"]


async def test_a_bundle_is_needed_where_its_types_are_not_installed(catalogue: Catalogue) -> None:
    who = assistant(catalogue)
    bundle = next(one for one in who.bundles.every() if not any(t in catalogue for t in who.bundles.types_of(one)))
    kind = who.bundles.types_of(bundle)[0]
    node = {"id": "n-1", "type": "genericNode", "position": {"x": 0, "y": 0}}
    node |= {"data": {"id": "n-1", "type": kind, "node": {"display_name": "Theirs", "template": {}, "outputs": []}}}
    async with serving(who) as live:
        flow = (await live.client.post(FLOWS, json={"name": "B", "data": {"nodes": [node], "edges": []}})).json()["id"]
        assert await needs(live.client, flow) == [("bundle", "Theirs", bundle.name)]


async def test_what_is_wrong_with_a_flow_is_told_of_the_version_that_is_stored(catalogue: Catalogue) -> None:
    nodes, edges = "  P: Prompt Template\n  B: ChatOutput\n", "  P.prompt -> B.input_value\n"
    spec = f"nodes:\n{nodes}edges:\n{edges}config:\n  P.template: Dear {{x}}\n"
    document = made(spec, catalogue).to_json()
    async with serving(assistant(catalogue)) as live:
        flow = await stored(live.client, Flow.from_json(document))
        assert (await live.client.get(f"{FLOWS}/{flow}/needs")).json() == {"needs": [], "faults": [], "version": 1}
        data: Any = document["data"]
        data["nodes"][0]["data"]["node"]["template"]["template"]["value"] = "Dear {1x}"
        (await live.client.put(f"{FLOWS}/{flow}", json={"version": 1, "flow": document})).raise_for_status()
        reply = (await live.client.get(f"{FLOWS}/{flow}/needs")).json()
        assert reply["version"] == 2
        [fault] = reply["faults"]
        assert (fault["code"], fault["field"], fault["severity"]) == ("bad_template", "template", "error")
