"""A stream of events that owns the task which produces them, and a flow's run as such a stream."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Generic, Self, TypeVar

import anyio

from flows.document import Flow
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.run_events import RunEvent

T = TypeVar("T")

MAX_RUN_EVENTS = 20_010
"""Run events that may wait for a reader: more than the engine sends for one run."""

CLEANUP_SECONDS = 5.0
"""How long a cancelled producer may take to clean up."""


class Buffer(Generic[T]):
    """Items on their way from those that send them to the one reader, in order.

    It is what `anyio`'s memory streams are with several readers, at a fifth of their cost for each item.

    Args:
        size: how many items may wait for the reader.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: deque[T] = deque()
        self._is_closed = False
        self._room = asyncio.Event()
        self._reader: asyncio.Future[None] | None = None

    def send_nowait(self, item: T) -> None:
        """Send an item if there is room.

        Raises:
            anyio.WouldBlock: there is none.
            anyio.BrokenResourceError: nobody reads any more.
        """
        if self._is_closed:
            raise anyio.BrokenResourceError
        if len(self._items) >= self._size:
            raise anyio.WouldBlock
        self._items.append(item)
        self.wake()

    async def send(self, item: T) -> None:
        """Send an item, when there is room; others, such as its reader, are let in between.

        Raises:
            anyio.BrokenResourceError: nobody reads any more.
        """
        while len(self._items) >= self._size and not self._is_closed:
            self._room.clear()
            await self._room.wait()
        self.send_nowait(item)
        await asyncio.sleep(0)

    def take(self) -> T | None:
        """The next item; None when there is none yet."""
        if not self._items:
            return None
        self._room.set()
        return self._items.popleft()

    async def wait(self) -> None:
        """Wait until there may be another item, or none any more."""
        self._reader = asyncio.get_running_loop().create_future()
        try:
            await self._reader
        finally:
            self._reader = None

    def wake(self) -> None:
        """Wake the reader."""
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def close(self) -> None:
        """Note that nobody reads any more."""
        self._is_closed = True
        self._items.clear()
        self._room.set()
        self.wake()


class EventStream(Generic[T]):
    """An asynchronous iterator and context manager over what one task sends.

    The task starts when the first item is asked for and is cancelled when the stream is closed. An exception of the
    producer reaches the reader after the items that were sent before it.

    Args:
        produce: sends the items; `send` waits for a slow reader once the buffer is full.
        buffer: how many items may wait for the reader.
    """

    def __init__(self, produce: Callable[[Buffer[T]], Awaitable[None]], buffer: int) -> None:
        self._produce = produce
        self._buffer = Buffer[T](buffer)
        self._task: asyncio.Task[None] | None = None
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
        while not self._closed:
            task = self._task or self._start()
            item = self._buffer.take()
            if item is not None:
                return item
            if task.done():
                await task
                break
            await self._buffer.wait()
        raise StopAsyncIteration

    def _start(self) -> asyncio.Task[None]:
        async def produce() -> None:
            await self._produce(self._buffer)

        task = self._task = asyncio.create_task(produce(), name="event-stream")
        task.add_done_callback(lambda _: self._buffer.wake())
        return task

    async def aclose(self) -> None:
        """Cancel the producer and wait, within limits, for its cleanup."""
        self._closed = True
        if self._task is None:
            return
        self._buffer.close()
        if self._task.done():
            return
        self._task.cancel()
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

    async def produce(items: Buffer[RunEvent | RunResult]) -> None:
        def on_event(event: RunEvent) -> None:
            with suppress(anyio.WouldBlock):  # beyond the buffer, events of a run are dropped; its result is not
                items.send_nowait(event)

        await items.send(await execute(flow, text, replace(options, on_event=on_event)))

    return EventStream(produce, MAX_RUN_EVENTS)
