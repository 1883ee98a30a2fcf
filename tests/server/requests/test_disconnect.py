"""Waiting for work and for streams: what comes after its reader left is neither lost in the log nor waited for."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message

from server.errors import ApiError, ClientGone
from server.requests.disconnect import until, while_connected

pytestmark = pytest.mark.anyio


async def test_a_stream_that_ends_while_its_reader_leaves_raises_nothing() -> None:
    unseen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
    waiting = asyncio.Event()

    async def endless() -> AsyncIterator[int]:
        waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return  # ends in place of being cancelled
        yield 1

    async def read() -> None:
        async with aclosing(until(asyncio.Event(), endless())) as items:
            async for _ in items:
                pass

    reading = asyncio.create_task(read())
    await waiting.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    gc.collect()
    await asyncio.sleep(0)
    assert unseen == []


class Client:
    """What a request receives once its body is read: nothing, until its client leaves.

    Attributes:
        asked: how often something was awaited of it.
    """

    def __init__(self) -> None:
        self.asked = 0
        self._left = asyncio.Event()
        self.request = Request({"type": "http"}, self._receive)

    def leave(self) -> None:
        self._left.set()

    async def _receive(self) -> Message:
        self.asked += 1
        await self._left.wait()
        return {"type": "http.disconnect"}


async def test_work_that_waits_for_nothing_is_not_watched() -> None:
    client = Client()

    async def work() -> int:
        return 1

    assert await while_connected(client.request, asyncio.Event(), work()) == 1
    assert client.asked == 0


async def test_work_is_cancelled_when_its_client_leaves_or_the_server_stops() -> None:
    cancelled = 0

    async def work() -> None:
        nonlocal cancelled
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled += 1
            raise

    client, stop = Client(), asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, client.leave)
    with pytest.raises(ClientGone):
        await while_connected(client.request, stop, work())
    stop.set()
    with pytest.raises(ApiError) as stopping:
        await while_connected(Client().request, stop, work())
    assert (stopping.value.status, cancelled) == (503, 2)


async def test_work_is_cancelled_with_whoever_waits_for_it_before_it_has_begun() -> None:
    begun: list[str] = []

    async def work() -> None:
        begun.append("work")
        await asyncio.Event().wait()

    before = asyncio.all_tasks()
    waiting = asyncio.create_task(while_connected(Client().request, asyncio.Event(), work()))
    asyncio.get_running_loop().call_soon(waiting.cancel)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert asyncio.all_tasks() <= before, begun
