"""The events of a turn in the words of another protocol: what AG-UI, the AI SDK and others are translated with."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from agent.contract.events import Event, read_event
from server.store.turns import Lines
from server.streams.event_writer import UNAVAILABLE

log = logging.getLogger(__name__)


class Translation(Protocol):
    """Turns the events of one turn into frames of a protocol. It reads them in order and from the first.

    It has no rules of its own: what happens is decided before, and what a frame says stands in an event.
    """

    def frames(self, event: Event) -> list[bytes]:
        """The frames that one event becomes: none for one that the protocol has no word for."""
        ...

    def cut(self) -> list[bytes]:
        """The frames that end the stream when later events cannot be read."""
        ...


async def translated(
    events: AsyncGenerator[Lines], translation: Translation, *, after: int = 0
) -> AsyncGenerator[bytes]:
    """The events of a turn as frames of a protocol; those that come together are sent together.

    Args:
        events: the events from the first, some at a time.
        translation: makes the frames.
        after: the number of the last event whose frames the client has; they are made, and not sent.
    """
    try:
        async with aclosing(events):
            async for lines in events:
                made: list[bytes] = []
                for number, line in lines:
                    event = read_event(line)
                    frames = [] if event is None else translation.frames(event)
                    if number > after:
                        made += frames
                if made:
                    yield b"".join(made)
    except UNAVAILABLE:
        log.exception("turns.events.not_read")
        yield b"".join(translation.cut())
