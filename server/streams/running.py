"""The turns that run: each in a task of its own, followed by any number of clients, and stopped when nobody is left."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Final
from uuid import uuid4

from agent.contract.endings import cancelled
from agent.contract.events import CancelledEvent, CompleteEvent, Ending, ErrorEvent, Event, StopReason
from runtime.database.backends.urls import is_sqlite
from runtime.database.database import Database
from runtime.jobs.job import QUEUED_LIMIT
from runtime.telemetry import bound_fields
from server.elsewhere.queued import QueuedTurn
from server.elsewhere.turns import TurnsElsewhere
from server.json_response import json_bytes
from server.store.turns import Lines, SteadyClock, StoredTurn, TakenOver, TurnStore
from server.streams.elsewhere import Heartbeat, ServerName
from server.streams.event_log import EventLog, Reader
from server.streams.event_writer import UNAVAILABLE, EventWriter
from server.streams.turn import DurableTurn, Turn

CLOSE_SECONDS: Final = 15.0
"""How long turns may take to end when the server stops: to clean up and save."""

INTERRUPTED: Final = "The server ended during this turn; what was saved before is kept."

GOES_ON: Final = "Another server goes on with this turn; its events can be followed by its id."

logger = logging.getLogger(__name__)


class TurnExists(Exception):
    """The user has a turn of this id."""


class RunningTurn:
    """One turn in a task of its own, which starts at once.

    Args:
        turn: what runs.
        log: where its events are written.
        grace: seconds that it goes on without a reader; None for a turn that ends with its client.

    Attributes:
        ending: its last event.
        task: takes the turn.
    """

    def __init__(self, turn: Turn, log: EventLog, grace: float | None) -> None:
        self.log = log
        self.ending: Ending | None = None
        self._turn = turn
        self._grace = grace
        self._client: Reader | None = None
        self._alone: asyncio.TimerHandle | None = None
        self._is_stopping = False
        self._ended = asyncio.Event()
        self.task = asyncio.create_task(self._run(), name="turn")

    @property
    def id(self) -> str:
        """The turn's id."""
        return self.log.turn

    def join(self, after: int = 0, *, as_client: bool = False) -> Reader:
        """Follow the turn.

        Args:
            after: the number of the last event that is known.
            as_client: whether the turn ends with this reader unless it is resumable.
        """
        reader = Reader(after)
        self.log.readers.add(reader)
        if as_client:
            self._client = reader
        if self._alone is not None:
            self._alone.cancel()
            self._alone = None
        return reader

    def leave(self, reader: Reader) -> None:
        """Follow it no longer."""
        if reader not in self.log.readers:
            return
        self.log.readers.discard(reader)
        if self.log.has_ended:
            return
        if self._grace is None:
            if reader is self._client:
                self.stop("abandoned")
        elif not self.log.readers and self._grace < math.inf:
            self._alone = asyncio.get_running_loop().call_later(self._grace, self.stop, "abandoned")

    def stop(self, reason: StopReason) -> None:
        """End the turn; its last event says why. The first reason counts."""
        if not self._is_stopping and not self.log.has_ended:
            self._is_stopping = True
            if reason == "interrupted" and isinstance(self._turn, DurableTurn):
                self.leave_to_others()
            else:
                self._turn.stop(reason)

    def leave_to_others(self) -> None:
        """End without a last event, since another process goes on with the turn."""
        if isinstance(self._turn, DurableTurn):
            self._turn.leave()
        self.log.leave()
        self._ended.set()

    async def ended(self) -> Ending:
        """The last event, when it has come."""
        await self._ended.wait()
        return self.ending or cancelled(message=GOES_ON, reason="interrupted")

    async def _run(self) -> None:
        try:
            with bound_fields(turn_id=self.id):
                await self._turn.run(self._send)
        finally:
            if self.ending is None and not self.log.is_left:
                self._end(cancelled(message=INTERRUPTED, reason="interrupted"))
            if self._alone is not None:
                self._alone.cancel()

    async def _send(self, event: Event) -> None:
        if isinstance(event, CompleteEvent | ErrorEvent | CancelledEvent):
            self._end(event)
        else:
            self.log.write(json_bytes(event))
            await self.log.room()

    def _end(self, event: Ending) -> None:
        self.ending = event
        self.log.write(json_bytes(event), event.event)
        self._ended.set()


class RunningTurns:
    """The turns that one server takes, and the stored events of those that it took.

    Args:
        database: where events are stored; opened when there are some.
        stopping: set when the server stops, which ends every turn.
        grace: seconds that a resumable turn goes on without a reader.
        kept: seconds that events are kept.
        data: the data folder, which names the server.
        clock: the time of what is stored.
        durable: whether turns of servers that are gone are not ended, because a server goes on with them.
        queued: how many jobs of a user may wait.

    Attributes:
        elsewhere: the turns that other processes take.
        on_stored: called with the user when the last event of a turn is stored.
    """

    def __init__(
        self,
        database: Database,
        stopping: asyncio.Event,
        *,
        grace: float,
        kept: float,
        data: Path,
        clock: SteadyClock | None = None,
        durable: bool = False,
        queued: int = QUEUED_LIMIT,
    ) -> None:
        self.on_stored: Callable[[str], None] = lambda _: None
        self._durable = durable
        self._database = database
        self._stopping = stopping
        self._grace = grace
        self._kept = kept
        self._name = ServerName(data)
        self._clock = clock or SteadyClock()
        self._turns: dict[tuple[str, str], RunningTurn] = {}
        self._forgotten: set[EventLog] = set()
        self._writer = EventWriter(self.store, self._stored)
        self._opened: TurnStore | None = None
        self._opening = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self.elsewhere = TurnsElsewhere(database, self.store, self.find, stopping, self._clock, queued, kept)
        self._heartbeat = Heartbeat(
            self.store, lambda: bool(self._turns), self._stop_asked, listens=not is_sqlite(database.url)
        )

    async def store(self) -> TurnStore:
        """The stored events; those of turns that ended with an earlier process of this server have their last event."""
        async with self._opening:
            if self._opened is None:
                await self._database.open()
                from server.store.turn_rows import SqlTurns

                name = await asyncio.to_thread(self._name.take)
                opened = SqlTurns(self._database, name, self._kept, self._clock, durable=self._durable)
                await opened.end_interrupted()
                self._opened = opened
            return self._opened

    async def start(
        self, owner: str, turn: Turn, turn_id: str | None = None, *, is_named: bool = False, resumable: bool = False
    ) -> RunningTurn:
        """Start a turn.

        Args:
            owner: whose turn it is.
            turn: what runs.
            turn_id: its id; one is made when missing.
            is_named: whether the client has chosen the id, so that it may be taken.
            resumable: whether it goes on for a while without its client.

        Raises:
            TurnExists: the owner has a turn of this id.
            StoreUnavailable: the id cannot be reserved.
        """
        turn_id, durable = turn_id or uuid4().hex, isinstance(turn, DurableTurn)
        is_reserved = is_named or durable
        if is_reserved and not await (await self.store()).reserve(owner, turn_id, turn.session, durable=durable):
            raise TurnExists
        log = EventLog(
            owner,
            turn_id,
            turn.session,
            self._writer.wake,
            is_new=not is_reserved,
            is_urgent=resumable,
            attempt=1 if durable else None,
        )
        return self._begin(turn, log, self._grace if resumable else None)

    def take(self, owner: str, turn_id: str, turn: DurableTurn, attempt: int) -> RunningTurn:
        """Take a durable turn that has waited.

        Args:
            owner: whose turn it is.
            turn_id: its id.
            turn: what runs.
            attempt: the number of this process among those that have taken it.
        """
        return self.go_on(owner, turn_id, turn, TakenOver(attempt, tries=1, last=0, stop_asked=False))

    def go_on(self, owner: str, turn_id: str, turn: DurableTurn, taken: TakenOver) -> RunningTurn:
        """Go on with a durable turn that another process has begun.

        Args:
            owner: whose turn it is.
            turn_id: its id.
            turn: what runs.
            taken: how it was taken over.
        """
        log = EventLog(
            owner,
            turn_id,
            turn.session,
            self._writer.wake,
            is_new=False,
            is_urgent=True,
            attempt=taken.attempt,
            last=taken.sent,
        )
        return self._begin(turn, log, math.inf)

    def _begin(self, turn: Turn, log: EventLog, grace: float | None) -> RunningTurn:
        if isinstance(turn, DurableTurn):
            turn.attach(log)
        owner = log.owner
        started = RunningTurn(turn, log, grace)
        earlier = self._turns.get((owner, log.turn))
        if earlier is not None:
            earlier.leave_to_others()
        self._turns[owner, log.turn] = started
        if self._watching is None:
            self._watching = asyncio.create_task(self._stop_all(), name="turns-stopping")
        elif self._watching.done():
            started.stop("interrupted")
        self._heartbeat.start()
        return started

    def get(self, owner: str, turn: str) -> RunningTurn | None:
        """A turn that runs here, or whose last events are not stored yet."""
        return self._turns.get((owner, turn))

    async def running(self, owner: str, session: str) -> str | None:
        """The turn of a conversation that runs, here or on another server with this database."""
        mine = [one for (of, _), one in self._turns.items() if of == owner and one.log.session == session]
        going = [one.id for one in mine if not one.log.has_ended]
        if going:
            return going[-1]
        found = await (await self.store()).running(owner, session)
        return None if found is not None and self.get(owner, found) is not None else found  # its end is not stored yet

    async def find(self, owner: str, turn: str) -> StoredTurn | None:
        """A turn of which events are stored; one whose server is gone has been interrupted."""
        found = await self.elsewhere.look(owner, turn)
        if found is not None and found.is_lost:
            await (await self.store()).end_lost()
            return await self.elsewhere.look(owner, turn)
        return found

    async def stop_elsewhere(self, owner: str, turn: str) -> StoredTurn | None:
        """Let the server that takes a turn stop it; None when it does not stop it in time."""
        return await self.elsewhere.stop(owner, turn)

    async def runs_elsewhere(self, owner: str, session: str) -> bool:
        """Whether another server takes a turn of a conversation."""
        return await (await self.store()).runs_elsewhere(owner, session)

    async def read(self, running: RunningTurn | QueuedTurn, reader: Reader) -> AsyncGenerator[Lines]:
        """The events of a turn that was started here, as they come."""
        if isinstance(running, QueuedTurn):
            async with aclosing(running.read(reader)) as events:
                async for lines in events:
                    yield lines
            return
        async with aclosing(running.log.read(reader, self.elsewhere.stored)) as events:
            async for lines in events:
                yield lines
        if running.log.is_left and not self._stopping.is_set():
            async with aclosing(self.read_stored(running.log.owner, running.id, reader.at)) as events:
                async for lines in events:
                    yield lines

    async def follow(self, owner: str, turn: str) -> AsyncGenerator[Lines]:
        """The events of a turn from the first, wherever it runs or ran; none if it is not known."""
        running = self.get(owner, turn)
        if running is None:
            async with aclosing(self.read_stored(owner, turn, 0)) as events:
                async for lines in events:
                    yield lines
            return
        reader = running.join()
        try:
            async with aclosing(self.read(running, reader)) as events:
                async for lines in events:
                    yield lines
        finally:
            running.leave(reader)

    def read_stored(self, owner: str, turn: str, after: int) -> AsyncGenerator[Lines]:
        """The events of a turn that ran here before, or runs on another server with this database, to the last."""
        return self.elsewhere.read(owner, turn, after)

    async def forget(self, owner: str, session: str) -> None:
        """Delete the events of a conversation; those of a turn that runs when it ends."""
        self._forgotten |= {
            running.log for key, running in self._turns.items() if (key[0], running.log.session) == (owner, session)
        }
        await (await self.store()).forget(owner, session=session)

    async def aclose(self) -> None:
        """End every turn, and store what is left."""
        self._heartbeat.stop()
        for running in self._turns.values():
            running.stop("interrupted")
        tasks = [running.task for running in self._turns.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
        await self._writer.aclose()
        self.elsewhere.aclose()
        self._name.release()
        if self._watching is not None:
            self._watching.cancel()

    async def _stop_all(self) -> None:
        await self._stopping.wait()
        for running in self._turns.values():
            running.stop("interrupted")

    def _stop_asked(self, owner: str, turn: str) -> None:
        running = self._turns.get((owner, turn))
        if running is not None:
            running.stop("stopped")

    async def _stored(self, log: EventLog) -> None:
        running = self._turns.get((log.owner, log.turn))
        if running is not None and running.log is log:
            if log.is_left and not running.task.done():
                running.leave_to_others()
            del self._turns[log.owner, log.turn]
        log.settle()
        if log in self._forgotten:
            self._forgotten.discard(log)
            try:
                await (await self.store()).forget(log.owner, turn=log.turn)
            except UNAVAILABLE:
                logger.exception("turns.events.not_forgotten")
        self.on_stored(log.owner)
