"""Connections that are slow on purpose: the head of a request has a time limit, whatever the pace it comes at."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from flows.catalogue import Catalogue
from tests.server.live import Live, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
async def live(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Live]:
    monkeypatch.setattr("runtime.web.connections.HEAD_SECONDS", 0.3)
    async with serving(assistant(catalogue)) as made:
        yield made


async def connected(live: Live) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(live.client.base_url.host, live.client.base_url.port)


async def ended(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the server closes the connection."""
    async with asyncio.timeout(10):
        try:
            return await reader.read()
        except ConnectionError:
            return b""


async def test_a_client_that_says_nothing_is_disconnected(live: Live) -> None:
    reader, writer = await connected(live)
    assert await ended(reader) == b""
    writer.close()


async def test_a_head_that_is_never_complete_is_answered_408(live: Live) -> None:
    reader, writer = await connected(live)
    writer.write(HEAD)
    assert (await ended(reader)).startswith(b"HTTP/1.1 408 ")
    writer.close()


async def test_a_head_that_trickles_is_disconnected(live: Live) -> None:
    reader, writer = await connected(live)

    async def trickle() -> None:
        writer.write(HEAD)
        while True:
            writer.write(b"X-More: 1\r\n")
            await asyncio.sleep(0.02)

    trickling = asyncio.create_task(trickle())
    try:
        assert b" 200 " not in await ended(reader)  # a reset may overtake the answer to a client that goes on sending
    finally:
        trickling.cancel()
        writer.close()
    assert (await live.client.get("/healthz")).status_code == 200


async def test_the_second_head_of_a_connection_has_the_same_limit(live: Live) -> None:
    reader, writer = await connected(live)
    writer.write(HEAD + b"\r\n")
    async with asyncio.timeout(10):
        assert b"200" in await reader.readuntil(b'"}')
    writer.write(HEAD)
    assert (await ended(reader)).startswith(b"HTTP/1.1 408 ")
    writer.close()


async def test_a_head_that_is_complete_in_time_has_its_answer_however_long_that_takes(live: Live) -> None:
    reader, writer = await connected(live)
    writer.write(HEAD)
    await asyncio.sleep(0.1)
    writer.write(b"\r\n")
    async with asyncio.timeout(10):
        assert b"200" in await reader.readuntil(b'"}')
    writer.close()


async def test_a_slow_answer_and_a_slow_body_are_not_cut_by_the_limit_of_the_head(live: Live) -> None:
    body = b'{"input_value": "What does the Chat Input do?"}'
    reader, writer = await connected(live)
    head = (
        "POST /api/v1/agentic/assist HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: {live.client.headers['authorization']}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body[:5])
    await asyncio.sleep(0.6)
    writer.write(body[5:])
    async with asyncio.timeout(30):
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200 ")
    writer.close()
