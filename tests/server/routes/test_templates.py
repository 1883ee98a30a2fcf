"""The starter flows over real HTTP: listed, read, and stored as new flows."""

from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.spec.build import build
from flows.templates import templates
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
PATH = "/api/v1/templates"


async def test_every_template_is_listed_page_by_page_and_found(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        found, place = list[str](), f"{PATH}?limit=3"
        while place is not None:
            page = (await live.client.get(place)).json()
            found += [one["name"] for one in page["templates"]]
            place = page["next"]
        one = (await live.client.get(f"{PATH}/{found[0]}")).json()
        title = (await live.client.get(f"{PATH}/{one['title']}")).json()
        wanted = (await live.client.get(PATH, params={"q": f"{one['title']} {' '.join(one['tags'])}"})).json()
    assert found == [one.name for one in templates()]
    assert one["spec"] == templates()[0].spec
    assert [(node["id"], node["type"]) for node in one["nodes"]] == list(templates()[0].nodes)
    assert title == one
    assert one["name"] in [each["name"] for each in wanted["templates"]]


async def test_a_flow_begins_as_a_template(catalogue: Catalogue) -> None:
    chosen = next(one for one in templates() if build(one.spec, catalogue).flow is not None)
    async with serving(assistant(catalogue)) as live:
        plain = await live.client.post(f"{PATH}/{chosen.name}/flows")
        named = await live.client.post(f"{PATH}/{chosen.name}/flows", json={"name": "Mine"})
        stored = (await live.client.get(plain.headers["location"])).json()
        total = (await live.client.get(FLOWS)).json()["total"]
    assert (plain.status_code, plain.json()["name"], named.json()["name"], total) == (201, chosen.title, "Mine", 2)
    built = build(chosen.spec, catalogue).flow
    assert built is not None
    assert stored["flow"] == built.raw


async def test_a_template_whose_components_are_missing_is_not_stored() -> None:
    away = templates()[0]
    async with serving(assistant(Catalogue({}))) as live:
        refused = await live.client.post(f"{PATH}/{away.name}/flows", json={})
        assert (await live.client.get(FLOWS)).json()["total"] == 0
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "template_not_available")
    assert "cannot be built here" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nothing", None, 404, "template_not_found"),
        ("POST", "/nothing/flows", {}, 404, "template_not_found"),
        ("POST", f"/{templates()[0].name}/flows", {"name": ""}, 422, "invalid_request"),
        ("POST", f"/{templates()[0].name}/flows", {"name": 7}, 422, "invalid_request"),
        ("GET", "?limit=201", None, 422, "invalid_request"),
    ],
)
async def test_what_cannot_be_done_says_why(
    method: str, path: str, body: dict[str, Any] | None, status: int, code: str, catalogue: Catalogue
) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.request(method, f"{PATH}{path}", json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
