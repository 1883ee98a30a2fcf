"""Waiting for a stream: what comes after its reader left is neither lost in the log nor waited for."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from server.requests.disconnect import until

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
