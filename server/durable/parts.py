"""What a durable turn is made of, and who makes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from agent.contract.events import Event, StopReason
from agent.turn.stream import TurnStream
from server.durable.document import TurnDocument
from server.durable.journal import StepJournal, Teller
from server.limits.slots import Slot
from server.stored_canvas import StoredCanvas
from server.streams.turn import DurableTurn


@dataclass(frozen=True)
class TurnParts:
    """A turn whose steps are recorded.

    Attributes:
        document: what it is begun with.
        stream: the assistant's turn.
        stored: the stored flow that it works on, if any.
        journal: records its steps.
        slot: its place among the turns that go on.
    """

    document: TurnDocument
    stream: TurnStream
    stored: StoredCanvas | None
    journal: StepJournal
    slot: Slot


class ServedTurn(Teller, Protocol):
    """A turn that is served to clients.

    Attributes:
        session: its conversation.
    """

    session: str

    async def run(self, send: Callable[[Event], Awaitable[None]]) -> None:
        """Run to the end."""
        ...

    def stop(self, reason: StopReason) -> None:
        """End soon, with a last event that says why."""
        ...

    def in_order(self) -> AbstractContextManager[None]:
        """Let tools be called one after another in the block."""
        ...


class MakesDurable(Protocol):
    """Makes turns durable."""

    async def parts(self, document: TurnDocument, slot: Slot) -> TurnParts:
        """What a turn is made of.

        Raises:
            ModelChoiceError: the model is unavailable.
        """
        ...

    async def recorded(self, turn: ServedTurn, parts: TurnParts) -> DurableTurn:
        """A new turn, in a form in which it is recorded while it runs."""
        ...
