"""The journal of a durable turn: its steps, each recorded with the events that were sent up to its end."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, Protocol

from agent.contract.events import Event, RewoundEvent
from flows.document import Flow
from flows.json_values import Json, JsonObject, as_list, as_object, as_text
from runtime.database.errors import Done, Superseded
from runtime.files.undo import forget, undo, undoable
from runtime.keychain.documents import DocumentSealing
from server.store.turns import Lines
from server.streams.event_log import EventLog

Record = Callable[[str, Callable[[], Awaitable[str]]], Awaitable[str]]
"""Records what a named step gives, or gives what was recorded of it."""

LEVEL: Final = 1
"""How hard records are compressed: flows repeat themselves, so that more takes time and saves little."""


log = logging.getLogger(__name__)


class Left(Exception):
    """Another process has resumed the turn; this one no longer writes to it."""


class Teller(Protocol):
    """Sends the events of a turn to its clients."""

    @property
    def canvas(self) -> Flow:
        """The canvas as it is."""
        ...

    @property
    def place(self) -> JsonObject:
        """Its state between two events."""
        ...

    def go_on_at(self, place: JsonObject) -> None:
        """Restore the state that `place` gave."""
        ...

    async def send(self, event: Event) -> None:
        """Send an event to the clients."""
        ...


def packed(value: Json, documents: DocumentSealing) -> str:
    """A value compressed and encrypted. Blocks for a moment."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return documents.seal_text(base64.b85encode(zlib.compress(written, LEVEL)).decode())


def unpacked(text: str, documents: DocumentSealing) -> Json:
    """The value that was given to `packed`. Blocks for a moment."""
    return json.loads(zlib.decompress(base64.b85decode(documents.unseal_text(text))).decode("utf-8", "surrogatepass"))


class StepJournal:
    """Records the steps of one turn.

    Args:
        owner: whose turn it is.
        turn: its id.
        documents: encrypts what is recorded.
        undo: a folder for files as they were before a step.

    Attributes:
        is_replaying: whether another process has done these steps before, so that no events are sent.
        is_left: whether another process goes on.
        lost: events that were sent and not stored, as recorded.
    """

    def __init__(self, owner: str, turn: str, documents: DocumentSealing, undo: Path) -> None:
        self._undo = undo
        self.owner = owner
        self.turn = turn
        self.is_replaying = False
        self.is_left = False
        self.lost: list[tuple[int, bytes]] = []
        self._documents = documents
        self._record: Record | None = None
        self._teller: Teller | None = None
        self._log: EventLog | None = None
        self._number = 0
        self._recorded = 0
        self._told = self._stored = 0
        self._store_lost: Callable[[Lines], Awaitable[None]] | None = None

    @property
    def was_taken_over(self) -> bool:
        """Whether another process has begun the turn."""
        return self._store_lost is not None

    def begin(self, teller: Teller, log: EventLog, record: Record) -> None:
        """Begin with a new turn.

        Args:
            teller: tells the clients.
            log: has the events.
            record: records steps.
        """
        self._teller, self._log, self._record = teller, log, record

    def go_on(self, recorded: int, stored: int, store_lost: Callable[[Lines], Awaitable[None]]) -> None:
        """Resume a turn that another process has begun.

        Args:
            recorded: how many steps are recorded.
            stored: the number of the last event that is stored.
            store_lost: stores events that were sent and not stored.
        """
        self.is_replaying = True
        self._recorded, self._stored = recorded, stored
        self._store_lost = store_lost

    def leave(self) -> None:
        """Leave the turn to another process."""
        self.is_left = True

    async def step(
        self, name: str, work: Callable[[], Awaitable[Json]], done: Callable[[], Awaitable[Json]] | None = None
    ) -> Json:
        """The result of a step; see `agent.durable.recorded.Journal`."""
        if self.is_left:
            raise asyncio.CancelledError
        assert self._record is not None  # noqa: S101  (begun; narrows the type)
        self._number += 1
        number, fresh = self._number, list[Json]()

        async def live() -> str:
            await self.catch_up()
            with undoable(self._undo / str(number)):
                value = await (work() if done is None else self._once(number, work, done))
            fresh.append(value)
            if self.is_left:
                raise asyncio.CancelledError
            return await asyncio.to_thread(packed, {"value": value, "told": self._mark()}, self._documents)

        try:
            text = await self._record(name, live)
        except Left:
            self.leave()
            raise asyncio.CancelledError from None
        if fresh:
            await self._forget(number)
            return fresh[0]
        found = as_object(await asyncio.to_thread(unpacked, text, self._documents))
        self._pass(as_object(found.get("told")))
        if number >= self._recorded:
            await self.catch_up()
        return found.get("value")

    @property
    def is_silent(self) -> bool:
        """Whether no events are sent: they were sent before, or another process sends them."""
        return self.is_replaying or self.is_left

    async def begun(self) -> None:
        """Begin; a resumed turn without recorded steps sends its events again from the first."""
        if not self._recorded:
            await self.catch_up()

    async def catch_up(self) -> None:
        """Send events from now on, beginning where the turn resumes."""
        if not self.is_replaying:
            return
        self.is_replaying = False
        assert self._teller is not None  # noqa: S101  (begun; narrows the type)
        if self.lost and self._store_lost is not None:
            await self._store_lost(self.lost)
        await self._teller.send(RewoundEvent(to=self._told, flow=self._teller.canvas))

    async def undo_half_done(self) -> None:
        """Restore the files that a step has changed in another process, and that was not recorded."""
        restored = await asyncio.to_thread(undo, self._undo / str(self._recorded + 1))
        await asyncio.to_thread(forget, self._undo)
        if restored:
            log.warning("turns.durable.files_restored turn=%s files=%d", self.turn, restored)

    async def _forget(self, number: int) -> None:
        if (self._undo / str(number)).exists():
            await asyncio.to_thread(forget, self._undo)

    async def _once(
        self, number: int, work: Callable[[], Awaitable[Json]], done: Callable[[], Awaitable[Json]]
    ) -> Json:
        from runtime.database.backends.once import Effect, stored_once

        assert self._log is not None  # noqa: S101  (begun; narrows the type)
        with stored_once(Effect(self.owner, self.turn, number, self._log.attempt or 1)):
            try:
                return await work()
            except Done:
                return await done()
            except Superseded:
                self.leave()
                raise asyncio.CancelledError from None

    def _mark(self) -> JsonObject:
        """What was sent: the number of the last event, those that are not stored yet, and the teller's state."""
        assert self._log is not None and self._teller is not None  # noqa: PT018, S101  (begun; narrows the types)
        waiting = self._log.unstored()
        mark: JsonObject = {"at": self._log.last, "place": self._teller.place}
        if waiting is not None:
            mark |= {"first": waiting.first, "lines": [line.decode() for line in waiting.lines]}
        return mark

    def _pass(self, told: JsonObject) -> None:
        """Note what was sent up to the end of a step that was done before."""
        at, first = told.get("at"), told.get("first")
        self._told = at if isinstance(at, int) else self._told
        if isinstance(first, int):
            known = self.lost[-1][0] if self.lost else self._stored
            lines = enumerate(map(as_text, as_list(told.get("lines"))), first)
            self.lost += [(number, line.encode()) for number, line in lines if number > known]
        if self._teller is not None:
            self._teller.go_on_at(as_object(told.get("place")))
