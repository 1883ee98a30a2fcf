"""Bodies over the limit and bodies that do not arrive: refused alike on every route, and readable for real clients."""

import asyncio
import http.client
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from flows.catalogue import Catalogue
from server.requests.body import with_whole_characters
from server.settings import ServerSettings
from tests.server.live import ASSIST, FLOWS, STREAM, Live, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
JSON = {"Content-Type": "application/json"}
RESET = "/api/v1/agentic/sessions/reset"
ROUTES = [
    ("POST", STREAM),
    ("POST", ASSIST),
    ("POST", RESET),
    ("POST", FLOWS),
    ("PUT", f"{FLOWS}/x"),
    ("POST", f"{FLOWS}/x/run"),
    ("PUT", "/api/v1/providers/openai"),
]
TWO_MEGABYTES = b"x" * 2_000_000
ONE_MEGABYTE = 1_000_000


def limited() -> ServerSettings:
    """Settings by which no body may have more than a megabyte."""
    return ServerSettings(body_limit=ONE_MEGABYTE, flow_body_limit=ONE_MEGABYTE)


async def chunks() -> AsyncIterator[bytes]:
    for _ in range(40):
        yield b"x" * 65_536


def code(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


async def connect(
    live: Live, method: str, path: str, *headers: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which the head of a request was sent."""
    reader, writer = await asyncio.open_connection(live.client.base_url.host, live.client.base_url.port)
    token = f"Authorization: {live.client.headers['authorization']}"
    head = (f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", token, *headers)
    writer.write("\r\n".join((*head, "", "")).encode())
    return reader, writer


async def begin(live: Live, method: str, path: str, *headers: str) -> bytes:
    """The status line that answers a request whose body never comes."""
    reader, writer = await connect(live, method, path, *headers)
    try:
        async with asyncio.timeout(10):
            return await reader.readuntil(b"\r\n")
    finally:
        writer.close()


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_no_route_reads_a_body_beyond_the_limit(method: str, path: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue), limited()) as live:
        declared = await live.client.request(method, path, content=TWO_MEGABYTES, headers=JSON)
        undeclared = await live.client.request(method, path, content=chunks(), headers=JSON)
        unsent = await begin(live, method, path, "Content-Length: 2000000")
        assert (await live.client.get("/healthz")).status_code == 200
    assert code(declared) == code(undeclared) == (413, "too_large")
    assert unsent.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_no_route_waits_for_a_body_for_ever(
    method: str, path: str, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.requests.body.READ_SECONDS", 0.01)
    async with serving(assistant(catalogue), limited()) as live:
        assert (await begin(live, method, path, "Content-Length: 100")).startswith(b"HTTP/1.1 408 ")


async def test_a_client_of_the_standard_library_reads_the_refusal(catalogue: Catalogue) -> None:
    def post(live: Live) -> int:
        connection = http.client.HTTPConnection(str(live.client.base_url.host), live.client.base_url.port, timeout=10)
        try:
            headers = {**JSON, "Authorization": live.client.headers["authorization"]}
            connection.request("POST", STREAM, TWO_MEGABYTES, headers)
            return connection.getresponse().status
        finally:
            connection.close()

    async with serving(assistant(catalogue), limited()) as live:
        assert [await asyncio.to_thread(post, live) for _ in range(5)] == [413] * 5


async def test_a_client_that_never_stops_sending_is_disconnected(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.web.connections.DISCARD_SECONDS", 0.2)
    async with serving(assistant(catalogue), limited()) as live, asyncio.timeout(10):
        reader, writer = await connect(live, "POST", STREAM, "Content-Length: 1000000000")
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 413 ")
        with pytest.raises(ConnectionError):
            while True:
                writer.write(b"x" * 1_000)
                await writer.drain()
                await asyncio.sleep(0.01)


async def test_a_connection_serves_on_after_a_refused_body_was_sent(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.web.connections.DISCARD_SECONDS", 0.2)
    async with serving(assistant(catalogue), limited()) as live, asyncio.timeout(10):
        reader, writer = await connect(live, "POST", STREAM, "Content-Length: 2000000")
        writer.write(TWO_MEGABYTES)
        await writer.drain()
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 413 ")
        await asyncio.sleep(0.4)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"HTTP/1.1 200 " in await reader.readuntil(b'{"ok":true,')
        writer.close()


async def test_an_empty_body_of_any_type_resets_what_the_query_names(catalogue: Catalogue) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    async with serving(assistant(catalogue), limited()) as live:
        reply = await live.client.post(RESET, params={"session_id": "s"}, headers=form)
        assert (reply.status_code, reply.json()["session_id"]) == (200, "s")
        refused = await live.client.post(RESET, content=b"session_id=s", headers=form)
        assert code(refused) == (415, "unsupported_media_type")


@given(st.text(st.one_of(st.characters(), st.sampled_from('\ud83d\udc00\\"u\ue000\ud7ff'))))
def test_half_of_a_pair_becomes_one_sign_and_all_else_stays(text: str) -> None:
    body = json.dumps({"text": text, text: [text]}).encode()
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert from_json(with_whole_characters(body)) == {"text": whole, whole: [whole]} | {"text": whole}
