"""A run as a stream: its events as they come, and its result last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Self

from runtime.results import RunEvent, RunResult

MAX_HELD = 20_010
"""Events that wait for a reader: no run tells more."""
FAREWELL = 5.0
"""Seconds that a run which is left may take to end."""

Start = Callable[[Callable[[RunEvent], None]], Awaitable[RunResult]]
"""Starts a run whose events are given to a function: `lambda tell: runner.run(flow, on_event=tell)`."""


class RunStream:
    """Iterates over the events of one run and, at the end, its result. Leaving it ends the run.

    Nothing is started before the first item is asked for. Use it as an async context manager, or call `aclose`.
    """

    def __init__(self, start: Start) -> None:
        """`start` is called once, when the first item is asked for."""
        self._start = start
        self._items: asyncio.Queue[RunEvent | None] = asyncio.Queue(MAX_HELD)
        self._task: asyncio.Task[RunResult] | None = None
        self._over = False

    def __aiter__(self) -> AsyncIterator[RunEvent | RunResult]:
        """The stream itself: it can be read once."""
        return self

    async def __anext__(self) -> RunEvent | RunResult:
        """The next event, or the result, after which there is nothing."""
        if self._over:
            raise StopAsyncIteration
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        event = await self._items.get()
        if event is not None:
            return event
        self._over = True
        return await self._task

    async def __aenter__(self) -> Self:
        """Read it inside, so that the run ends when the reading does."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the run, if it has not ended."""
        await self.aclose()

    async def aclose(self) -> None:
        """End the run, if it has not ended; there is nothing more to read then."""
        self._over = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=FAREWELL)

    async def _run(self) -> RunResult:
        try:
            return await self._start(self._tell)
        finally:
            while self._items.full():
                self._items.get_nowait()
            self._items.put_nowait(None)

    def _tell(self, event: RunEvent) -> None:
        if self._items.qsize() < MAX_HELD - 1:
            self._items.put_nowait(event)
