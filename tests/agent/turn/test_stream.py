"""The stream of a turn: lazy, bounded, and cancelled with its reader."""

import asyncio
from collections.abc import Awaitable, Callable

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.turn.stream import BUFFER, Send, TurnStream
from runtime.event_stream import Buffer, EventStream
from tools.events import Progress

pytestmark = pytest.mark.anyio


def note(message: str) -> Progress:
    return Progress(step="generating", message=message)


async def test_an_unread_stream_starts_nothing() -> None:
    started = False

    async def body(_: Send) -> None:
        nonlocal started
        started = True

    async with TurnStream(body):
        await asyncio.sleep(0)
    assert not started


async def test_events_come_in_order_and_end_with_the_body() -> None:
    async def body(send: Send) -> None:
        for number in range(BUFFER * 3):
            await send(note(str(number)))

    async with TurnStream(body) as stream:
        seen = [event.message async for event in stream if isinstance(event, Progress)]
    assert seen == [str(number) for number in range(BUFFER * 3)]


async def test_a_failure_of_the_body_reaches_the_reader_after_its_events() -> None:
    async def body(send: Send) -> None:
        await send(note("first"))
        raise RuntimeError("broken")

    seen: list[object] = []
    with pytest.raises(RuntimeError, match="broken"):
        async with TurnStream(body) as stream:
            async for event in stream:
                seen.append(event)  # noqa: PERF401  (the failure interrupts the loop)
    assert len(seen) == 1


async def test_leaving_the_stream_cancels_the_body_and_waits_for_its_clean_up() -> None:
    cleaned = False

    async def body(send: Send) -> None:
        nonlocal cleaned
        try:
            await send(note("first"))
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned = True

    async with TurnStream(body) as stream:
        await anext(stream)
    assert cleaned
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_a_slow_reader_holds_the_body_back() -> None:
    sent = 0

    async def body(send: Send) -> None:
        nonlocal sent
        for number in range(BUFFER * 10):
            await send(note(str(number)))
            sent += 1

    async with TurnStream(body) as stream:
        await anext(stream)
        for _ in range(BUFFER * 5):
            await asyncio.sleep(0)
        assert sent <= BUFFER + 2


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


async def test_several_senders_wait_for_room() -> None:
    async def produce(buffer: Buffer[int]) -> None:
        await asyncio.gather(*(buffer.send(item) for item in range(9)))

    async with stream_of(produce, 1) as stream:
        assert sorted([item async for item in stream]) == list(range(9))


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
