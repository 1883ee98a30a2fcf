"""A stream of events that owns the task which produces them, and a flow's run as such a stream."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Generic, Self, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from flows.document import Flow
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.run_events import RunEvent

T = TypeVar("T")

MAX_RUN_EVENTS = 20_010
"""Run events that may wait for a reader: more than the engine sends for one run."""

CLEANUP_SECONDS = 5.0
"""How long a cancelled producer may take to clean up."""


class EventStream(Generic[T]):
    """An asynchronous iterator and context manager over what one task sends.

    The task starts when the first item is asked for and is cancelled when the stream is closed. An exception of the
    producer reaches the reader after the items that were sent before it.

    Args:
        produce: sends the items; `send` waits for a slow reader once the buffer is full.
        buffer: how many items may wait for the reader.
    """

    def __init__(self, produce: Callable[[MemoryObjectSendStream[T]], Awaitable[None]], buffer: int) -> None:
        self._produce = produce
        self._buffer = buffer
        self._task: asyncio.Task[None] | None = None
        self._receive: MemoryObjectReceiveStream[T] | None = None
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        if self._closed:
            raise StopAsyncIteration
        receive = self._receive or self._start()
        try:
            return await receive.receive()
        except anyio.EndOfStream:
            if self._task is not None:
                await self._task
            raise StopAsyncIteration from None

    def _start(self) -> MemoryObjectReceiveStream[T]:
        send, receive = anyio.create_memory_object_stream[T](self._buffer)

        async def produce() -> None:
            async with send:
                await self._produce(send)

        self._receive = receive
        self._task = asyncio.create_task(produce(), name="event-stream")
        return receive

    async def aclose(self) -> None:
        """Cancel the producer and wait, within limits, for its cleanup."""
        self._closed = True
        if self._task is None or self._receive is None:
            return
        self._task.cancel()
        self._receive.close()
        with anyio.move_on_after(CLEANUP_SECONDS, shield=True):
            await asyncio.wait([self._task])


Execute = Callable[[Flow, str | None, RunOptions], Awaitable[RunResult]]
"""Runs a flow: `Runner.execute`."""


def run_events(
    execute: Execute, flow: Flow, text: str | None, options: RunOptions
) -> EventStream[RunEvent | RunResult]:
    """A run as a stream: its events as they come, then its result. Closing it ends the run.

    Args:
        execute: runs the flow.
        flow: what to run.
        text: its input.
        options: the run's options; `on_event` is the stream's own.
    """

    async def produce(items: MemoryObjectSendStream[RunEvent | RunResult]) -> None:
        def on_event(event: RunEvent) -> None:
            with suppress(anyio.WouldBlock):  # beyond the buffer, events of a run are dropped; its result is not
                items.send_nowait(event)

        await items.send(await execute(flow, text, replace(options, on_event=on_event)))

    return EventStream(produce, MAX_RUN_EVENTS)
