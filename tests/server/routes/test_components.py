"""The component types over real HTTP: pages, searches, one type, and an engine that is not there yet."""

from pathlib import Path

import pytest

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from flows.edits.new_nodes import new_node
from server.settings import ServerSettings
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio

COMPONENTS = "/api/v1/components"


async def test_the_types_are_listed_page_by_page_by_name(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        first = (await live.client.get(COMPONENTS, params={"limit": 10})).json()
        second = (await live.client.get(COMPONENTS, params={"limit": 10, "offset": 10})).json()
    assert first["total"] == len(catalogue)
    names = [entry["type"] for entry in (*first["components"], *second["components"])]
    assert names == sorted((known.type for known in catalogue), key=str.lower)[:20]
    assert set(first["components"][0]) == {"type", "display_name", "description", "category", "legacy", "beta"}


async def test_a_search_gives_the_best_first_and_can_be_narrowed(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        found = (await live.client.get(COMPONENTS, params={"q": "split text into chunks"})).json()
        assert found["components"][0]["type"] == "SplitText"
        scores = [entry["score"] for entry in found["components"]]
        assert scores == sorted(scores, reverse=True)
        category = found["components"][0]["category"]
        narrowed = (await live.client.get(COMPONENTS, params={"category": category.upper()})).json()
        assert {entry["category"] for entry in narrowed["components"]} == {category}
        nothing = (await live.client.get(COMPONENTS, params={"q": "zzzz qqqq"})).json()
        assert (nothing["components"], nothing["total"]) == ([], 0)


async def test_a_search_says_what_could_be_installed(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        found = (await live.client.get(COMPONENTS, params={"q": "send a slack message"})).json()
        first = found["not_installed"][0]
        assert first["bundle"]["name"] == "slack"
        assert first["bundle"]["requirement"] == "lfx-slack"
        one = (await live.client.get(f"{COMPONENTS}/{first['type']}")).json()
        assert (one["installed"], one["bundle"]) == (False, first["bundle"])
        assert one["outputs"]
        plain = (await live.client.get(COMPONENTS, params={"q": "split text"})).json()
        assert "not_installed" not in plain


async def test_one_type_is_described_with_its_fields(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        one = (await live.client.get(f"{COMPONENTS}/ChatInput")).json()
        assert one["text"] == catalogue.describe("ChatInput")
        assert "input_value" in one["template"]
        assert one["outputs"]
        spaced = await live.client.get(f"{COMPONENTS}/Prompt Template")
        assert spaced.json()["type"] == "Prompt Template"


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/ChatInputt", 404, "component_not_found"),
        ("?limit=0", 422, "invalid_request"),
        ("?offset=-1", 422, "invalid_request"),
    ],
)
async def test_what_is_unavailable_is_refused(catalogue: Catalogue, path: str, status: int, code: str) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.get(f"{COMPONENTS}{path}")
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert reply.json()["error"]["fix"]


async def test_the_types_are_known_before_the_engine_is_installed(tmp_path: Path) -> None:
    settings = ServerSettings(cache=tmp_path / "empty")
    async with serving(Assistant(settings, StandInRunner(failure=None)), settings) as live:
        reply = await live.client.get(f"{COMPONENTS}/URLComponent")
    assert reply.status_code == 200
    assert "URLComponent" in reply.text


async def test_clients_are_asked_to_retry_when_another_engine_is_being_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.assistant.shipped_catalogue", lambda _: None)
    settings = ServerSettings(cache=tmp_path / "empty")
    async with serving(Assistant(settings, StandInRunner()), settings) as live:
        reply = await live.client.get(COMPONENTS)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "catalogue_missing")
    assert reply.headers["retry-after"]


async def test_a_type_comes_with_a_component_as_the_assistant_adds_it(catalogue: Catalogue) -> None:
    known = catalogue.get("ChatInput")
    assert known is not None
    async with serving(assistant(catalogue)) as live:
        given = (await live.client.get(f"{COMPONENTS}/ChatInput")).json()["node"]
    assert given == new_node(known, "").raw
    assert given["data"]["node"]["template"]["_type"] == "Component", "Langflow runs nothing without it"
