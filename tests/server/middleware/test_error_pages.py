"""A browser that opens an address gets an error as a page, every other client as JSON, and both the same status."""

import re

import httpx
import pytest

from flows.catalogue import Catalogue
from server.routes.browser.error_page import error_page
from tests.server.live import Live, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Accept-Language": "en-GB,en"}


async def both(live: Live, path: str, who: httpx.AsyncClient, **headers: str) -> tuple[httpx.Response, httpx.Response]:
    """What a browser and what another client gets there."""
    return await who.get(path, headers={**BROWSER, **headers}), await who.get(path)


async def test_a_sign_in_link_that_was_used_says_how_to_get_another(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        link = live.access.link(str(live.client.base_url))
        path = link.removeprefix(str(live.client.base_url)).replace("//", "/")
        assert (await live.stranger.get(path)).status_code == 303
        page, other = await both(live, path, live.stranger)
    assert (page.status_code, other.status_code) == (403, 403)
    assert other.json()["error"]["code"] == "code_invalid"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<code>wirewright token --link</code>" in page.text
    assert '<a href="/">Back to the start</a>' in page.text
    assert "Accept" in page.headers["vary"]


async def test_an_unknown_address_is_a_page_too_for_those_signed_in_and_for_strangers(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        page, other = await both(live, "/nowhere", live.client)
        closed, refused = await both(live, "/nowhere", live.stranger)
        flow, unknown = await both(live, "/api/v1/flows/none", live.client)
    assert [page.status_code, closed.status_code, flow.status_code] == [404, 401, 404]
    assert [other.status_code, refused.status_code, unknown.status_code] == [404, 401, 404]
    assert "<h1>There is nothing at this address</h1>" in page.text
    assert "<h1>This browser is not signed in</h1>" in closed.text
    assert "www-authenticate" in closed.headers
    assert "There is no flow" in flow.text
    assert other.json()["error"]["code"] == "not_found"


async def test_the_page_loads_nothing_and_runs_nothing(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        page, _ = await both(live, "/<script>alert(1)</script>", live.client)
    assert "script" not in page.headers["content-security-policy"]
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in page.text
    assert re.findall(r"(?:src|href)=(\S*?)[ >]", page.text) == ['"/"'], "it leads to the start alone"


async def test_the_page_speaks_the_languages_of_the_product(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        texts = {
            language: (await both(live, "/nowhere", live.client, **{"Accept-Language": language}))[0].text
            for language in ("de-DE,de;q=0.9,en;q=0.5", "pt-BR", "fr-FR")
        }
    assert [re.findall(r'<html lang="(..)"', text) for text in texts.values()] == [["de"], ["pt"], ["en"]]


async def test_what_is_asked_by_scripts_and_sent_by_forms_stays_json(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        sent = await live.client.post("/api/v1/flows", content=b"no", headers={"Accept": "text/html"})
        fetched = await live.client.get("/nowhere", headers={"Accept": "*/*"})
    assert sent.json()["error"]["code"]
    assert fetched.json()["error"]["code"] == "not_found"


def test_what_a_server_says_of_other_errors_is_shown_and_is_text() -> None:
    page = error_page(409, {"code": "x", "message": "<b>No</b>", "fix": "Try `a < b`."}, "*")
    assert "<b>" not in page
    assert "<code>a &lt; b</code>" in page
