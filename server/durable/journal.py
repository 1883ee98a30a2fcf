"""The journal of a durable turn: its steps, each recorded with the events that were sent up to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from agent.contract.events import Event, RewoundEvent
from agent.durable.steps import Kind
from flows.document import Flow
from flows.json_values import Json, JsonObject, as_list, as_object, as_text
from runtime.database.backends.outage import Outage
from runtime.database.backends.recorded import Effect, StepsTogether, stored_once
from runtime.database.errors import Done, StoreUnavailable, Superseded
from runtime.files.undo import forget, undo, undoable
from runtime.keychain.documents import DocumentSealing
from server.durable.packing import packed_soon, written
from server.store.turns import Lines
from server.streams.event_log import EventLog

SOON_SECONDS: Final = 0.02
"""How long a step that has ended waits for the next ones, to be recorded together: most models take longer to begin.

Nothing that has effects begins before the steps before it are recorded.
"""

RETRY_SECONDS: Final = 0.5
"""How long to wait before what could not be recorded is tried again, for as long as it takes."""

log = logging.getLogger(__name__)


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


class StepStore(Protocol):
    """Stores what is recorded of steps."""

    async def add(self, steps: StepsTogether, attempt: int) -> bool:
        """Record steps of a turn; False, and nothing is recorded, when it is not this attempt's any more."""
        ...


@dataclass(frozen=True)
class _Ended:
    """A step that has ended.

    Attributes:
        number: its number.
        text: what came of it, as JSON.
        is_pressing: whether it is recorded soon: it has only read, or its effect is stored and says so, otherwise.
        is_found: whether what came of it can be found without a record, since its effect is stored.
    """

    number: int
    text: str
    is_pressing: bool
    is_found: bool


class StepJournal:
    """Records the steps of one turn.

    A step that has ended is recorded while a model is asked for the next one. No tool, and nothing else that has
    effects, begins before. What only reads is recorded with the step that follows from it, and what the turn's last
    effects follow from in their transaction.

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
        self._store: StepStore | None = None
        self._teller: Teller | None = None
        self._log: EventLog | None = None
        self._number = 0
        self._before: Sequence[JsonObject] = ()
        self._held: list[_Ended] = []
        self._opened = asyncio.Event()
        self._due: asyncio.TimerHandle | None = None
        self._recording: asyncio.Task[None] | None = None
        self._told = self._stored = self._marked = 0
        self._store_lost: Callable[[Lines], Awaitable[None]] | None = None

    @property
    def was_taken_over(self) -> bool:
        """Whether another process has begun the turn."""
        return self._store_lost is not None

    def begin(self, teller: Teller, log: EventLog, store: StepStore) -> None:
        """Begin with a new turn.

        Args:
            teller: tells the clients.
            log: has the events.
            store: stores what is recorded.
        """
        self._teller, self._log, self._store = teller, log, store
        self._marked = log.last

    def go_on(self, before: Sequence[JsonObject], stored: int, store_lost: Callable[[Lines], Awaitable[None]]) -> None:
        """Resume a turn that another process has begun.

        Args:
            before: what was recorded of its steps, in order.
            stored: the number of the last event that is stored.
            store_lost: stores events that were sent and not stored.
        """
        self.is_replaying = True
        self._before, self._stored = before, stored
        self._store_lost = store_lost

    def open(self) -> None:
        """Let steps be recorded, and what has effects begin: from now on, another process would go on with the turn."""
        self._opened.set()

    def leave(self) -> None:
        """Leave the turn to another process."""
        self.is_left = True
        self._opened.set()

    async def step(
        self,
        name: str,
        work: Callable[[], Awaitable[Json]],
        done: Callable[[], Awaitable[Json]] | None = None,
        kind: Kind = "act",
    ) -> Json:
        """The result of a step; see `agent.durable.recorded.Journal`."""
        self._check_not_left()
        self._number += 1
        number = self._number
        if number <= len(self._before):
            return await self._replayed(number)
        await self.catch_up()
        if kind == "act" and done is None:
            await self.settled()
            self._check_not_left()
        with undoable(self._undo / str(number)):
            value = await (work() if done is None else self._once(number, work, done))
        self._check_not_left()
        came: JsonObject = {"number": number, "step": name, "value": value, "told": self._mark()}
        is_pressing = kind != "read" and done is None
        self._held.append(_Ended(number, written(came), is_pressing, is_found=done is not None))
        if is_pressing and self._due is None:
            self._due = asyncio.get_running_loop().call_later(SOON_SECONDS, self._begin_to_record)
        return value

    @property
    def is_silent(self) -> bool:
        """Whether no events are sent: they were sent before, or another process sends them."""
        return self.is_replaying or self.is_left

    async def begun(self) -> None:
        """Begin; a resumed turn without recorded steps sends its events again from the first."""
        if not self._before:
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
        """Restore the files that steps have changed in another process, and that were not recorded."""
        restored = await asyncio.to_thread(self._restore)
        if restored:
            log.warning("turns.durable.files_restored turn=%s files=%d", self.turn, restored)

    async def settled(self) -> None:
        """Wait until every step that has ended is recorded, or another process has taken the turn.

        Raises:
            SecretKeyUnavailable: it cannot be encrypted.
        """
        await self._opened.wait()
        await self._until_stored()
        if not (self.is_left or all(one.is_found for one in self._held)):
            self._begin_to_record()
            await self._until_stored()

    async def aclose(self) -> None:
        """Record nothing more, now that the turn has ended or is left."""
        self._wait_no_longer()
        await self._until_stored()

    def _check_not_left(self) -> None:
        if self.is_left:
            raise asyncio.CancelledError

    def _begin_to_record(self) -> None:
        """Record the steps that have ended, after those that are being recorded."""
        self._wait_no_longer()
        if self._recording is None or self._recording.done():
            self._recording = asyncio.create_task(self._record(), name="steps-recording")

    def _wait_no_longer(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    async def _until_stored(self) -> None:
        """Wait for the steps that are being recorded."""
        if self._recording is not None:
            await asyncio.shield(self._recording)

    async def _replayed(self, number: int) -> Json:
        """What another process has recorded of a step."""
        found = self._before[number - 1]
        self._pass(as_object(found.get("told")))
        if number >= len(self._before):
            await self.catch_up()
        return found.get("value")

    async def _once(
        self, number: int, work: Callable[[], Awaitable[Json]], done: Callable[[], Awaitable[Json]]
    ) -> Json:
        """Do what has an effect on what is stored, which is stored once, with what was read for it."""
        assert self._log is not None  # noqa: S101  (begun; narrows the type)
        self._wait_no_longer()
        await self._opened.wait()
        await self._until_stored()
        held = [] if all(one.is_found for one in self._held) else [*self._held]
        before = [await self._packed(held)] if held else []
        effect = Effect(self.owner, self.turn, number, self._log.attempt or 1, before)
        try:
            with stored_once(effect):
                return await work()
        except Done:
            return await done()
        except Superseded:
            self.leave()
            raise asyncio.CancelledError from None
        finally:
            if effect.is_stored:
                del self._held[: len(held)]

    async def _record(self) -> None:
        """Record the steps that have ended, however long the database takes."""
        await self._opened.wait()
        while held := [*self._held]:
            steps = await self._packed(held)
            if not await self._is_stored(steps):
                return
            del self._held[: len(held)]
            await self._forget([one.number for one in held])
            if not any(one.is_pressing for one in self._held):
                return

    async def _is_stored(self, steps: StepsTogether) -> bool:
        """Store what is recorded; False when another process has taken the turn."""
        assert self._store is not None and self._log is not None  # noqa: PT018, S101  (begun; narrows the types)
        outage = Outage(log, f"turns.durable.not_recorded turn={self.turn}")
        while not self.is_left:
            try:
                if not await self._store.add(steps, self._log.attempt or 1):
                    self.is_left = not self._log.has_ended
                    return False
            except StoreUnavailable as failure:
                outage.goes_on(failure)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                outage.is_over()
                return True
        return False

    async def _packed(self, steps: Sequence[_Ended]) -> StepsTogether:
        text = f"[{','.join(one.text for one in steps)}]"
        document = await packed_soon(text, self._documents)
        return {
            "owner": self.owner,
            "turn": self.turn,
            "first": steps[0].number,
            "last": steps[-1].number,
            "document": document,
        }

    async def _forget(self, numbers: Sequence[int]) -> None:
        """Forget files as they were before steps that are recorded."""
        if self._undo.exists():
            await asyncio.to_thread(self._forget_files, numbers)

    def _forget_files(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            forget(self._undo / str(number))
        with suppress(OSError):  # a later step has changed some, or nothing is there
            self._undo.rmdir()

    def _restore(self) -> int:
        kept = [int(folder.name) for folder in self._undo.glob("*") if folder.name.isdecimal()]
        late = sorted((number for number in kept if number > len(self._before)), reverse=True)
        restored = sum(undo(self._undo / str(number)) for number in late)
        forget(self._undo)
        return restored

    def _mark(self) -> JsonObject:
        """What was sent: the number of the last event, those that no record has and that are not stored yet.

        With them is the teller's state.
        """
        assert self._log is not None and self._teller is not None  # noqa: PT018, S101  (begun; narrows the types)
        waiting = self._log.unstored()
        mark: JsonObject = {"at": self._log.last, "place": self._teller.place}
        if waiting is not None and waiting.last > self._marked:
            first = max(waiting.first, self._marked + 1)
            lines = waiting.lines[first - waiting.first :]
            mark |= {"first": first, "lines": [line.decode() for line in lines]}
        self._marked = self._log.last
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
