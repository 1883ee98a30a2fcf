"""Runs that send a request without end, or hardly at all: the gateway waits and reads no longer than the server."""

import asyncio

import pytest

from agent.models.scripted import scripted
from runtime.gateway.server import HOST, GatewayServer
from tests.runtime.gateway.test_refusals import fine
from tests.runtime.gateway.words import OpenSession

pytestmark = pytest.mark.anyio

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can wait for."""
    monkeypatch.setattr("runtime.web.connections.HEAD_SECONDS", 0.3)
    monkeypatch.setattr("runtime.web.connections.DISCARD_SECONDS", 0.3)
    monkeypatch.setattr("runtime.gateway.app.READ_SECONDS", 0.3)


async def answer(gateway: GatewayServer, *pieces: bytes, pause: float = 0) -> bytes:
    """All that the gateway sends until it closes the connection, which it must by itself."""
    reader, writer = await asyncio.open_connection(HOST, gateway.port)

    async def send() -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    sending = asyncio.create_task(send())
    try:
        async with asyncio.timeout(10):
            return await reader.read()
    except ConnectionError:
        return b"reset"
    finally:
        sending.cancel()
        writer.close()


async def test_a_client_that_says_nothing_is_disconnected(gateway: GatewayServer) -> None:
    assert await answer(gateway) == b""


async def test_half_a_head_is_answered_408(gateway: GatewayServer) -> None:
    assert (await answer(gateway, HEAD)).startswith(b"HTTP/1.1 408 ")


async def test_a_head_that_trickles_is_cut(gateway: GatewayServer) -> None:
    found = await answer(gateway, HEAD, *[b"X-More: 1\r\n"] * 10_000, pause=0.02)
    assert b" 200 " not in found


async def test_a_head_without_end_is_refused_at_its_limit(gateway: GatewayServer) -> None:
    found = await answer(gateway, HEAD, *[b"X-More: " + b"x" * 1_000 + b"\r\n"] * 10_000)
    assert found == b"reset" or found.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 "))


async def test_half_a_body_is_answered_408(gateway: GatewayServer, opened: OpenSession) -> None:
    key = opened(scripted(fine, "fine")).key("Model-1")
    head = HEAD + f"Authorization: Bearer {key}\r\nContent-Length: 100\r\n\r\n".encode()
    found = await answer(gateway, head + b'{"model"')
    assert found.startswith(b"HTTP/1.1 408 ")
    assert b'"too_slow"' in found


async def test_a_body_that_is_too_large_is_refused_before_it_is_sent(
    gateway: GatewayServer, opened: OpenSession
) -> None:
    key = opened(scripted(fine, "fine")).key("Model-1")
    head = HEAD + f"Authorization: Bearer {key}\r\nContent-Length: 1000000000\r\n\r\n".encode()
    found = await answer(gateway, head)
    assert found.startswith(b"HTTP/1.1 413 ")
    assert b'"too_large"' in found


async def test_the_body_of_a_stranger_is_not_read_on(gateway: GatewayServer) -> None:
    head = HEAD + b"Content-Length: 1000000000\r\n\r\n"
    assert (await answer(gateway, head, *[b"x"] * 10_000, pause=0.02)).startswith((b"HTTP/1.1 401 ", b"reset"))
