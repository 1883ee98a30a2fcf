"""The events of a turn as a response: server-sent events, with pings while nothing happens."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Final

from sse_starlette.sse import EventSourceResponse
from starlette.types import Message, Receive, Scope, Send

from agent.contract.flow_updates import StreamEvent
from agent.contract.requests import AGENT_HEADER, TURN_HEADER
from runtime.install.release import version
from server.json_response import json_bytes
from server.store.turns import Lines
from server.streams.event_writer import UNAVAILABLE
from server.streams.sse import line_of

PING_SECONDS: Final = 15
"""How often a silent stream sends a ping, which is a comment."""

GRACE_SECONDS: Final = 3
"""How long open streams may take to end when the server stops."""

log = logging.getLogger(__name__)


class TurnResponse(EventSourceResponse):
    """The events of a turn.

    Args:
        turn: the turn's id.
        frames: the events as bytes, those that came together in one: `numbered`, or what a protocol makes of them.
        headers: more headers than those of every stream.
        media_type: what the frames are; `text/event-stream` when missing.
        leave: called when the response has ended, also when it was never sent.
    """

    def __init__(
        self,
        turn: str,
        frames: AsyncGenerator[bytes],
        *,
        headers: Mapping[str, str] | None = None,
        media_type: str | None = None,
        leave: Callable[[], None] | None = None,
    ) -> None:
        self._leave = leave
        super().__init__(  # pyright: ignore[reportUnknownMemberType]  (it takes dicts of any kind, too)
            frames,
            sep="\n",
            ping=PING_SECONDS,
            headers={
                "Cache-Control": "no-cache",
                AGENT_HEADER: f"wirewright/{version()}",
                TURN_HEADER: turn,
                **(headers or {}),
            },
            media_type=media_type or "text/event-stream",
            shutdown_grace_period=GRACE_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the last, or until the client disconnects."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._leave is not None:
                self._leave()

    async def _send_with_timeout(self, send: Send, message: Message) -> None:
        """Send a frame, for which there is no time limit, and so without the scope that would watch one."""
        await send(message)


async def numbered(turn: str, events: AsyncGenerator[Lines], *, is_numbered: bool = True) -> AsyncGenerator[bytes]:
    """The events as frames of our own stream; those that come together are sent together.

    Args:
        turn: the turn's id.
        events: the events, some at a time.
        is_numbered: whether each says its turn and number, in itself and as its id.
    """
    head = _head(turn)
    try:
        async with aclosing(events):
            async for lines in events:
                yield b"".join(
                    _numbered(turn, head, number, line) if is_numbered else line_of(line) for number, line in lines
                )
    except UNAVAILABLE:  # the client has seen how far it got, and can follow from there
        log.exception("turns.events.not_read")


def _head(turn: str) -> bytes:
    """What stands before an event's number in its JSON: the same for all events of a turn, and so written once."""
    return json_bytes(StreamEvent(turn_id=turn, sequence=0)).removesuffix(b"0}")


def _numbered(turn: str, head: bytes, number: int, line: bytes) -> bytes:
    """An event with its turn and number before its own keys: both are JSON objects that are not empty."""
    return b"id: %b.%d\n" % (turn.encode(), number) + line_of(b"%b%d,%b" % (head, number, line.removeprefix(b"{")))
