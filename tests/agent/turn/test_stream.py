"""The stream of a turn: lazy, bounded, and cancelled with its reader."""

import asyncio

import pytest

from agent.turn.stream import BUFFER, Send, TurnStream
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
