"""Connecting with providers from a loop that is busy: time that it had for something else alone does not count."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest

from runtime.gateway.limits.connecting import connect_patiently

pytestmark = pytest.mark.anyio

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
LIMIT = 0.2
"""Seconds that connecting may take."""

CLIENTS = [
    pytest.param(lambda: httpx.AsyncClient(timeout=httpx.Timeout(30, connect=LIMIT)), id="httpx"),
    pytest.param(lambda: httpx2.AsyncClient(timeout=httpx2.Timeout(30, connect=LIMIT)), id="httpx2"),
]


@asynccontextmanager
async def answering() -> AsyncGenerator[str]:
    """A provider; yields its address."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(REPLY)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def busy(seconds: float) -> AsyncGenerator[None]:
    """Each round of the loop takes a while."""

    async def work() -> None:
        while True:
            time.sleep(seconds)  # noqa: ASYNC251  (it stands for much work)
            await asyncio.sleep(0)

    working = asyncio.create_task(work())
    try:
        yield
    finally:
        working.cancel()


@pytest.mark.parametrize("make", CLIENTS)
async def test_a_loop_with_long_rounds_connects(make: Callable[[], Any]) -> None:
    async with answering() as url, connect_patiently(make()) as client, busy(LIMIT / 2):
        assert (await client.get(url)).text == "hi"


@pytest.mark.parametrize("make", CLIENTS)
async def test_a_provider_that_does_not_answer_is_not_waited_for(make: Callable[[], Any]) -> None:
    client = connect_patiently(make())
    backend, ended = client._transport._pool._network_backend, list[str]()

    class Silent:
        async def connect_tcp(self, *_: Any, **__: Any) -> Any:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")

    Silent.__module__ = type(backend._inner).__module__
    backend._inner = Silent()
    with pytest.raises((httpx.ConnectTimeout, httpx2.ConnectTimeout)):
        await client.get("http://127.0.0.1:9")
    assert ended == ["cancelled"]
    await client.aclose()


@pytest.mark.parametrize("make", CLIENTS)
async def test_a_refused_connection_fails_at_once(make: Callable[[], Any]) -> None:
    async with answering() as url:
        pass
    client = connect_patiently(make())
    with pytest.raises((httpx.ConnectError, httpx2.ConnectError)):
        await client.get(url)
    await client.aclose()
