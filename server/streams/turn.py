"""Turns as a server runs them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from agent.contract.events import Event, StopReason
from server.streams.event_log import EventLog


class Turn(Protocol):
    """What runs.

    Attributes:
        session: its conversation.
    """

    session: str

    async def run(self, send: Callable[[Event], Awaitable[None]]) -> None:
        """Run to the end; the last event that is sent says how it ended."""
        ...

    def stop(self, reason: StopReason) -> None:
        """End soon, with a last event that says why."""
        ...


@runtime_checkable
class DurableTurn(Turn, Protocol):
    """What runs, and goes on in another process when this one ends."""

    def attach(self, log: EventLog) -> None:
        """Be given where its events are written."""
        ...

    def leave(self) -> None:
        """End soon without a last event: another process goes on."""
        ...
