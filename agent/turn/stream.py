"""The stream of one turn: it owns the task that runs the turn, and leaving it cancels that task."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

from agent.turn.result import TurnEvent

Send = Callable[[TurnEvent], Awaitable[None]]
Body = Callable[[Send], Awaitable[None]]

BUFFER = 64
"""Events that may wait for a slow reader before the turn waits for it."""

FAREWELL_SECONDS = 5.0
"""How long a cancelled turn may take to clean up."""


class TurnStream:
    """An asynchronous iterator and context manager over one turn's events.

    The turn starts with the first event asked for; an unread stream starts nothing.

    Args:
        body: runs the turn, sending events as they come.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._task: asyncio.Task[None] | None = None
        self._receive: MemoryObjectReceiveStream[TurnEvent] | None = None
        self._closed = False

    async def __aenter__(self) -> "TurnStream":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> "TurnStream":
        return self

    async def __anext__(self) -> TurnEvent:
        if self._closed:
            raise StopAsyncIteration
        receive = self._receive or self._start()
        try:
            return await receive.receive()
        except anyio.EndOfStream:
            if self._task is not None:
                await self._task
            raise StopAsyncIteration from None

    def _start(self) -> MemoryObjectReceiveStream[TurnEvent]:
        send, receive = anyio.create_memory_object_stream[TurnEvent](BUFFER)

        async def produce() -> None:
            async with send:
                await self._body(send.send)

        self._receive = receive
        self._task = asyncio.create_task(produce(), name="turn")
        return receive

    async def aclose(self) -> None:
        """Stop the turn and wait, within limits, for what it cleans up."""
        self._closed = True
        if self._task is None or self._receive is None:
            return
        self._task.cancel()
        self._receive.close()
        with anyio.move_on_after(FAREWELL_SECONDS, shield=True):
            await asyncio.wait([self._task])
