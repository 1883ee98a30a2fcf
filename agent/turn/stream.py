"""The stream of one turn's events, and the canvas as it is so far."""

from collections.abc import Awaitable, Callable

from agent.turn.record import TurnRecord
from agent.turn.result import TurnEvent
from flows.document import Flow
from runtime.event_stream import Buffer, EventStream

Send = Callable[[TurnEvent], Awaitable[None]]
Body = Callable[[Send], Awaitable[None]]

BUFFER = 64
"""How many events may wait for a slow reader before the turn waits for it."""


class TurnStream(EventStream[TurnEvent]):
    """An asynchronous iterator and context manager over one turn's events.

    The turn starts when the first event is awaited; leaving the stream cancels it.

    Args:
        body: runs the turn and sends its events.
        canvas: returns the current canvas.
        record: returns what was done so far.
    """

    def __init__(
        self, body: Body, canvas: Callable[[], Flow] = Flow.empty, record: Callable[[], TurnRecord] = TurnRecord
    ) -> None:
        async def produce(events: Buffer[TurnEvent]) -> None:
            await body(events.send)

        super().__init__(produce, BUFFER)
        self._body = body
        self._canvas = canvas
        self._record = record

    async def take(self, send: Send) -> None:
        """Run the turn here, and not as a stream: it waits until each event was received.

        Args:
            send: receives the events.
        """
        await self._body(send)

    @property
    def canvas(self) -> Flow:
        """The canvas with every change so far; still readable after the stream was closed."""
        return self._canvas()

    @property
    def record(self) -> TurnRecord:
        """What was done so far; still readable after the stream was closed."""
        return self._record()
