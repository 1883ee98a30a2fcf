"""What one task sends reaches its one reader, in order, at the reader's pace."""

import asyncio
from collections.abc import Awaitable, Callable

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.event_stream import Buffer, EventStream

pytestmark = pytest.mark.anyio


def stream_of(produce: Callable[[Buffer[int]], Awaitable[None]], size: int = 2) -> EventStream[int]:
    return EventStream(produce, size)


@given(items=st.lists(st.integers(), max_size=20), size=st.integers(1, 5))
def test_everything_comes_once_and_in_order(items: list[int], size: int) -> None:
    async def produce(buffer: Buffer[int]) -> None:
        for item in items:
            await buffer.send(item)

    async def read() -> list[int]:
        async with stream_of(produce, size) as stream:
            return [item async for item in stream]

    assert asyncio.run(read()) == items


async def test_a_producer_waits_for_a_slow_reader() -> None:
    sent: list[int] = []

    async def produce(buffer: Buffer[int]) -> None:
        for item in range(5):
            await buffer.send(item)
            sent.append(item)

    async with stream_of(produce) as stream:
        assert await anext(stream) == 0
        for _ in range(20):
            await asyncio.sleep(0)
        assert sent == [0, 1, 2], "as many as there is room for"
        assert [item async for item in stream] == [1, 2, 3, 4]


async def test_several_senders_wait_for_room() -> None:
    async def produce(buffer: Buffer[int]) -> None:
        await asyncio.gather(*(buffer.send(item) for item in range(9)))

    async with stream_of(produce, 1) as stream:
        assert sorted([item async for item in stream]) == list(range(9))


async def test_a_failure_comes_after_what_was_sent_before_it() -> None:
    async def produce(buffer: Buffer[int]) -> None:
        await buffer.send(1)
        raise ValueError("no")

    stream, found = stream_of(produce), list[int]()
    with pytest.raises(ValueError, match="no"):
        async for item in stream:
            found.append(item)
    assert found == [1]
    await stream.aclose()


async def test_closing_cancels_the_producer_and_refuses_what_it_still_sends() -> None:
    refused: list[type[BaseException]] = []

    async def produce(buffer: Buffer[int]) -> None:
        try:
            await buffer.send(1)
            await asyncio.Event().wait()
        finally:
            try:
                buffer.send_nowait(2)
            except anyio.BrokenResourceError as failure:
                refused.append(type(failure))

    async with stream_of(produce) as stream:
        assert await anext(stream) == 1
    assert refused == [anyio.BrokenResourceError]
    assert [item async for item in stream] == []


async def test_a_stream_that_is_closed_before_it_is_read_starts_nothing() -> None:
    started: list[int] = []

    async def produce(buffer: Buffer[int]) -> None:
        started.append(1)

    stream = stream_of(produce)
    await stream.aclose()
    assert ([item async for item in stream], started) == ([], [])


async def test_beyond_the_buffer_nothing_is_sent_at_once() -> None:
    buffer = Buffer[int](1)
    buffer.send_nowait(1)
    with pytest.raises(anyio.WouldBlock):
        buffer.send_nowait(2)


async def test_a_cancelled_reader_loses_nothing() -> None:
    go = asyncio.Event()

    async def produce(buffer: Buffer[int]) -> None:
        await go.wait()
        await buffer.send(1)

    async with stream_of(produce) as stream:
        reading = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait([reading])
        go.set()
        assert [item async for item in stream] == [1]
