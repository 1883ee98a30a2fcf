"""Who may talk to the server."""

import httpx
import pytest
from starlette.datastructures import Headers

from flows.catalogue import Catalogue
from server.middleware.host_check import SECURITY_HEADERS, refusal_of, with_security_headers
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant

HOST = "127.0.0.1:7878"


def verdict(method: str, **headers: str) -> int:
    refusal = refusal_of(method, Headers({name.replace("_", "-"): value for name, value in headers.items()}))
    return 200 if refusal is None else refusal.status_code


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:7878", "[::1]:7878", "LocalHost", "app.localhost:1"])
def test_names_of_this_machine_are_answered(host: str) -> None:
    assert verdict("GET", host=host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:7878",
        "",
        "[::1",
        "user@127.0.0.1",
        "127.0.0.1/a",
        "127.0.0.1:7931, evil",
        "127.0.0.1:7931,127.0.0.1:7931",
        "127.0.0.1 evil",
        "127.0.0.1:99999",
        "127.0.0.1:65536",
        "127.0.0.1:",
        "127.0.0.1:x",
        "[::1]7878",
        "[[::1]]",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_names_are_refused_whatever_they_resolve_to(host: str, method: str) -> None:
    assert verdict(method, host=host) == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "https://localhost:7878", "", "http://[::1"]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_changes_asked_for_by_other_pages_are_refused(origin: str, method: str) -> None:
    assert verdict(method, host=HOST, origin=origin) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_that_says_it_comes_from_elsewhere_is_refused(site: str) -> None:
    assert verdict("POST", host=HOST, sec_fetch_site=site) == 403


def test_the_servers_page_and_clients_other_than_browsers_pass() -> None:
    assert verdict("POST", host=HOST, origin=f"http://{HOST}", sec_fetch_site="same-origin") == 200
    assert verdict("POST", host=HOST) == 200
    assert verdict("GET", host=HOST, origin="http://evil.example") == 200, "reading is stopped by the browser: no CORS"


@pytest.mark.anyio
async def test_a_refusal_is_typed_and_every_reply_is_secured(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        refusal = await live.client.get("/healthz", headers={"Host": "evil.example"})
        assert refusal.status_code == 403
        assert refusal.json()["error"]["code"] == "forbidden_host"
        refusal = await live.client.post(FLOWS, json={}, headers={"Origin": "http://evil.example"})
        assert refusal.json()["error"]["code"] == "forbidden_origin"
        for reply in (refusal, await live.client.get("/docs"), await live.client.get("/nowhere")):
            secured(reply)


def secured(reply: httpx.Response) -> None:
    """Whether a reply has all security headers, and opens nothing to other origins."""
    assert {name: reply.headers.get(name) for name in SECURITY_HEADERS} == dict(SECURITY_HEADERS)
    assert not [name for name in reply.headers if name.lower().startswith("access-control")]


def test_an_answer_keeps_its_own_headers_but_not_weaker_ones() -> None:
    own = [(b"x-frame-options", b"ALLOWALL"), (b"content-type", b"text/html"), (b"cache-control", b"max-age=9")]
    headers = with_security_headers(own)
    assert (headers[0], headers[1]) == (own[1], own[2])
    assert dict(headers)[b"x-frame-options"] == b"DENY"
    assert len(headers) == 2 + len(SECURITY_HEADERS)
    assert dict(with_security_headers([]))[b"cache-control"] == b"no-store"
