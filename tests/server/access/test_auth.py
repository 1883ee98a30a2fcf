"""The token: what is refused without it, on every route and by every way around it, and signing a browser in."""

import asyncio
import os
import stat
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import BaseRoute, Mount, Route

from flows.catalogue import Catalogue
from runtime.accounts.user import LOCAL
from runtime.keychain.access_token import access_token
from server.access.auth import CODE_SECONDS, HOOKS_FOLDER, SESSION_SECONDS, SESSIONS, SIGN_IN_PATH, Access, sign_in_link
from server.app import create_app
from server.middleware.token_check import OPEN_FOLDER, OPEN_PATHS
from server.settings import ServerSettings
from tests.server.live import ASSIST, FLOWS, STREAM, Live, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND")
TOKEN = "t" * 43


@pytest.fixture
async def live(catalogue: Catalogue) -> AsyncGenerator[Live]:
    async with serving(assistant(catalogue)) as made:
        yield made


def paths(routes: list[BaseRoute], above: str = "") -> list[str]:
    """An address of every route of a table, with its mounts."""
    found: list[str] = []
    for route in routes:
        if isinstance(route, Mount):
            found += [f"{above}{route.path}", *paths(list(route.routes), above + route.path)]
        elif isinstance(route, Route):
            names = route.param_convertors
            found.append(above + route.path_format.format(**dict.fromkeys(names, "x")))
        else:
            raise AssertionError(f"a route of an unknown kind: {route}")
    return found


def unauthorized(reply: httpx.Response) -> bool:
    """Whether a reply is the refusal of a request without the token."""
    if reply.status_code != 401:
        return False
    assert reply.headers["www-authenticate"].startswith("Bearer")
    if reply.request.method != "HEAD":
        error = reply.json()["error"]
        assert error["code"] == "unauthorized"
        assert "wirewright token" in error["fix"]
    return True


async def test_every_route_and_every_method_is_refused_without_the_token(live: Live) -> None:
    table = paths(list(create_app(ServerSettings()).routes))
    assert {ASSIST, STREAM, FLOWS, "/metrics", "/api/v1/files/x"} <= set(table)
    for path in [*table, "/nothing", "/api/v1", "/api/v1/nothing", "/static/../api/v1/flows"]:
        for method in METHODS:
            reply = await live.stranger.request(method, path)
            opened = method in ("GET", "HEAD") and (path in OPEN_PATHS or path.startswith(OPEN_FOLDER))
            opened = opened or (method, path) == ("POST", "/sign-in")  # which reads a token from its body
            if method == "POST" and path.startswith(HOOKS_FOLDER):  # which wants the token of the webhook
                assert (reply.status_code, reply.json()["error"]["code"]) == (401, "webhook_refused")
                continue
            assert unauthorized(reply) != opened, (method, path, reply.status_code)


async def test_what_is_open_is_on_the_list_alone(live: Live) -> None:
    assert sorted(OPEN_PATHS) == ["/", "/docs", "/healthz", "/icon.svg", "/openapi.json", "/readyz", "/sign-in"]
    assert (await live.stranger.get("/")).status_code == 200
    assert (await live.stranger.get("/healthz")).status_code == 200
    assert (await live.stranger.get("/readyz")).status_code == 200
    for path in (
        "/healthz/",
        "//healthz",
        "/healthz/../api/v1/flows",
        "/HEALTHZ",
        "/healthz;x",
        "/%2e/healthz",
        "/assets",
    ):
        raw = httpx.URL(str(live.stranger.base_url), raw_path=path.encode())
        assert unauthorized(await live.stranger.send(live.stranger.build_request("GET", raw))), path


async def test_the_token_opens_every_route(live: Live) -> None:
    for path in paths(list(create_app(ServerSettings()).routes)):
        for method in ("GET", "DELETE", "PATCH"):
            if (method, path) != ("DELETE", SIGN_IN_PATH):
                assert (await live.client.request(method, path)).status_code != 401, (method, path)
    assert (await live.client.get("/metrics")).status_code == 200
    assert (await live.client.get("/api/v1/nothing")).status_code == 404


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer {token}x",
        "Bearer {start}",
        "Basic {token}",
        "{token}",
        "Bearer {token} {token}",
        "Bearer {token},Bearer x",
        "Bearer \xe9{token}",
        "Token {token}",
    ],
)
async def test_a_wrong_header_is_refused(live: Live, header: str) -> None:
    token = access_token(ServerSettings().data)
    given = header.format(token=token, start=token[:-1]).encode("latin-1")
    reply = await live.stranger.get(FLOWS, headers=[(b"Authorization", given)])
    assert unauthorized(reply)
    assert token not in reply.text


@pytest.mark.parametrize("header", ["Bearer {token}", "bearer {token}", "BEARER  {token}"])
async def test_the_scheme_is_read_as_http_reads_it(live: Live, header: str) -> None:
    given = header.format(token=access_token(ServerSettings().data))
    assert (await live.stranger.get(FLOWS, headers={"Authorization": given})).status_code == 200


async def test_two_headers_of_which_one_is_right_are_refused(live: Live) -> None:
    right = f"Bearer {access_token(ServerSettings().data)}"
    for headers in (
        [("Authorization", right), ("Authorization", "x")],
        [("Authorization", "x"), ("Authorization", right)],
    ):
        assert unauthorized(await live.stranger.get(FLOWS, headers=headers))


async def test_a_token_in_the_address_is_not_looked_at(live: Live) -> None:
    token = access_token(ServerSettings().data)
    for name in ("token", "access_token", "code", "Authorization"):
        assert unauthorized(await live.stranger.get(FLOWS, params={name: token}))


async def test_a_foreign_host_is_refused_with_the_token_too(live: Live) -> None:
    assert (await live.client.get(FLOWS, headers={"Host": "evil.example"})).status_code == 403
    assert (await live.client.post(FLOWS, json={}, headers={"Origin": "http://evil.example"})).status_code == 403


async def test_a_websocket_is_closed_without_the_token() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    app = create_app(ServerSettings(), access=Access(TOKEN))
    scope = {
        "type": "websocket",
        "path": "/",
        "headers": [(b"host", b"127.0.0.1")],
        "query_string": b"",
        "server": None,
    }
    await app(scope, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_token_is_made_once_and_its_owner_alone_can_read_it(data_folder: Path) -> None:
    before = os.umask(0)
    try:
        token = access_token(data_folder)
    finally:
        os.umask(before)
    assert access_token(data_folder) == token
    assert len(token) >= 43, "256 bits"
    assert stat.S_IMODE((data_folder / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(data_folder.stat().st_mode) == 0o700


def test_a_page_or_run_without_the_digest_cannot_make_a_code() -> None:
    link = sign_in_link("http://127.0.0.1:7878", "x" * 43, 0)
    assert Access(TOKEN, lambda: 0).sign_in(link.partition("code=")[2]) is None


@pytest.fixture
async def browser(live: Live) -> AsyncGenerator[httpx.AsyncClient]:
    """A browser that has opened the link."""
    base = str(live.client.base_url)
    async with httpx.AsyncClient(base_url=base, timeout=30, trust_env=False) as made:
        reply = await made.get(live.access.link(base.rstrip("/")))
        assert (reply.status_code, reply.headers["location"]) == (303, "/")
        cookie = reply.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert "path=/" in cookie
        assert access_token(ServerSettings().data) not in cookie
        yield made


async def test_a_link_signs_a_browser_in_once(live: Live, browser: httpx.AsyncClient) -> None:
    assert (await browser.get(FLOWS)).status_code == 200
    link = live.access.link(str(live.client.base_url).rstrip("/"))
    assert (await live.stranger.get(link)).status_code == 303
    live.stranger.cookies.clear()
    again = await live.stranger.get(link)
    assert (again.status_code, again.json()["error"]["code"]) == (403, "code_invalid")
    assert "set-cookie" not in again.headers
    assert unauthorized(await live.stranger.get(FLOWS))


async def test_a_preview_of_a_link_does_not_use_it(live: Live) -> None:
    link = live.access.link(str(live.client.base_url).rstrip("/"))
    preview = await live.stranger.head(link)
    assert (preview.status_code, preview.headers.get("set-cookie")) == (200, None)
    assert (await live.stranger.get(link)).status_code == 303


async def test_of_two_that_open_a_link_at_once_one_is_signed_in(live: Live) -> None:
    link = live.access.link(str(live.client.base_url).rstrip("/"))
    replies = await asyncio.gather(*(live.stranger.get(link) for _ in range(8)))
    assert sorted(reply.status_code for reply in replies) == [303, *[403] * 7]


async def test_a_signed_in_browser_changes_something_from_the_servers_own_page_only(
    live: Live, browser: httpx.AsyncClient, echo: dict[str, Any]
) -> None:
    own = str(live.client.base_url).rstrip("/")
    host = own.removeprefix("http://")
    for headers in (
        {},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": f"https://{host}"},
        {"Origin": own, "Sec-Fetch-Site": "same-site"},
    ):
        assert (await browser.post(FLOWS, json=echo, headers=headers)).status_code in (401, 403), headers
    assert (await browser.get(FLOWS)).json()["total"] == 0
    stored = await browser.post(FLOWS, json=echo, headers={"Origin": own, "Sec-Fetch-Site": "same-origin"})
    assert stored.status_code == 201


@pytest.mark.parametrize("site", ["same-site", "cross-site"])
async def test_pages_of_others_read_nothing_with_a_browsers_cookie(browser: httpx.AsyncClient, site: str) -> None:
    assert unauthorized(await browser.get(FLOWS, headers={"Sec-Fetch-Site": site}))


async def test_a_wrong_token_is_refused_in_a_signed_in_browser(browser: httpx.AsyncClient) -> None:
    assert unauthorized(await browser.get(FLOWS, headers={"Authorization": "Bearer x"}))


@pytest.mark.parametrize(
    "cookie", ["wirewright-{port}=x", "wirewright-{port}=", "wirewright-{port}", "a=\x7f;=;;", "{token}"]
)
async def test_a_made_up_cookie_is_refused(live: Live, cookie: str) -> None:
    token = access_token(ServerSettings().data)
    given = cookie.format(port=live.client.base_url.port, token=token)
    assert unauthorized(await live.stranger.get(FLOWS, headers={"Cookie": given}))


async def test_signing_out_ends_the_session(live: Live, browser: httpx.AsyncClient) -> None:
    cookies = dict(browser.cookies)
    own = str(live.client.base_url).rstrip("/")
    assert (await browser.delete(SIGN_IN_PATH, headers={"Origin": own})).status_code == 204
    kept = "; ".join(f"{name}={value}" for name, value in cookies.items())
    assert unauthorized(await live.stranger.get(FLOWS, headers={"Cookie": kept}))


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def code_of(access: Access) -> str:
    return access.link("http://127.0.0.1").partition("code=")[2]


async def test_a_code_ends_after_minutes_and_a_session_after_days() -> None:
    clock = Clock()
    access = Access(TOKEN, clock)
    late = code_of(access)
    session = access.sign_in(code_of(access))
    assert session is not None
    assert await access.user_of_session(session) is LOCAL
    clock.now += CODE_SECONDS + 1
    assert access.sign_in(late) is None
    clock.now += SESSION_SECONDS
    assert await access.user_of_session(session) is None


def test_a_code_that_was_used_before_a_restart_is_not_valid_after_it() -> None:
    clock = Clock()
    access = Access(TOKEN, clock)
    code = code_of(access)
    assert access.sign_in(code) is not None
    clock.now += 1
    assert Access(TOKEN, clock).sign_in(code) is None


@pytest.mark.parametrize("change", ["", "1.x.y", "-1.x.y", "٣.x.y", "{code}x", "9{code}", "{code}\ud800", "." * 1_000])
def test_a_changed_code_is_not_valid(change: str) -> None:
    access = Access(TOKEN, Clock())
    assert access.sign_in(change.replace("{code}", code_of(access))) is None


def test_a_code_from_the_future_is_not_valid() -> None:
    access = Access(TOKEN, Clock())
    assert access.sign_in(sign_in_link("http://x", TOKEN, 2_000_000).partition("code=")[2]) is None


async def test_the_first_of_too_many_sessions_ends() -> None:
    access = Access(TOKEN, Clock())
    sessions = [access.sign_in(code_of(access)) for _ in range(SESSIONS + 1)]
    assert [await access.user_of_session(each or "") for each in sessions] == [None, *[LOCAL] * SESSIONS]
