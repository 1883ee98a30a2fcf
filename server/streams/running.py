"""The turns that run: each in a task of its own, followed by any number of clients, and stopped when nobody is left."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Final, Protocol
from uuid import uuid4

from agent.contract.endings import cancelled
from agent.contract.events import CancelledEvent, CompleteEvent, Ending, ErrorEvent, Event, StopReason
from runtime.database.database import Database
from runtime.telemetry import bound_fields
from server.json_response import json_bytes
from server.store.turns import RUNNING, Lines, SteadyClock, StoredTurn, TurnStore
from server.streams.event_log import EventLog, Reader
from server.streams.event_writer import UNAVAILABLE, EventWriter

CLOSE_SECONDS: Final = 15.0
"""How long turns may take to end when the server stops: to clean up and save."""

POLL_SECONDS: Final = 0.25
"""How often the events of a turn that runs elsewhere are read."""

INTERRUPTED: Final = "The server ended during this turn; what was saved before is kept."

logger = logging.getLogger(__name__)


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
        elif not self.log.readers:
            self._alone = asyncio.get_running_loop().call_later(self._grace, self.stop, "abandoned")

    def stop(self, reason: StopReason) -> None:
        """End the turn; its last event says why. The first reason counts."""
        if not self._is_stopping and not self.log.has_ended:
            self._is_stopping = True
            self._turn.stop(reason)

    async def ended(self) -> Ending:
        """The last event, when it has come."""
        await self._ended.wait()
        assert self.ending is not None  # noqa: S101  (set before; narrows the type)
        return self.ending

    async def _run(self) -> None:
        try:
            with bound_fields(turn_id=self.id):
                await self._turn.run(self._send)
        finally:
            if self.ending is None:
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
    ) -> None:
        self._database = database
        self._stopping = stopping
        self._grace = grace
        self._kept = kept
        self._server = hashlib.sha256(f"{socket.gethostname()} {data}".encode()).hexdigest()[:16]
        self._clock = clock or SteadyClock()
        self._turns: dict[tuple[str, str], RunningTurn] = {}
        self._forgotten: set[EventLog] = set()
        self._writer = EventWriter(self.store, self._stored)
        self._opened: TurnStore | None = None
        self._opening = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None

    async def store(self) -> TurnStore:
        """The stored events; those of turns that ended with an earlier process of this server have their last event."""
        async with self._opening:
            if self._opened is None:
                await self._database.open()
                from server.store.turn_rows import SqlTurns

                opened = SqlTurns(self._database, self._server, self._kept, self._clock)
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
        turn_id = turn_id or uuid4().hex
        if is_named and not await (await self.store()).reserve(owner, turn_id, turn.session):
            raise TurnExists
        log = EventLog(
            owner,
            turn_id,
            turn.session,
            self._writer.wake,
            is_new=not is_named,
            is_urgent=resumable,
        )
        started = RunningTurn(turn, log, self._grace if resumable else None)
        self._turns[owner, log.turn] = started
        if self._watching is None:
            self._watching = asyncio.create_task(self._stop_all(), name="turns-stopping")
        elif self._watching.done():
            started.stop("interrupted")
        return started

    def get(self, owner: str, turn: str) -> RunningTurn | None:
        """A turn that runs here, or whose last events are not stored yet."""
        return self._turns.get((owner, turn))

    async def find(self, owner: str, turn: str) -> StoredTurn | None:
        """A turn of which events are stored."""
        return await (await self.store()).find(owner, turn)

    async def runs_elsewhere(self, owner: str, session: str, seconds: float) -> bool:
        """Whether another server with this database takes a turn of a conversation.

        Args:
            owner: whose conversation it is.
            session: its id.
            seconds: how long a turn may last.
        """
        return await (await self.store()).runs_elsewhere(owner, session, seconds)

    async def read(self, running: RunningTurn, reader: Reader) -> AsyncGenerator[Lines]:
        """The events of a turn that runs here, as they come."""
        async with aclosing(running.log.read(reader, self._read_stored)) as events:
            async for lines in events:
                yield lines

    async def read_stored(self, owner: str, turn: str, after: int) -> AsyncGenerator[Lines]:
        """The events of a turn that ran here before, or runs on another server with this database, to the last."""
        store = await self.store()
        while True:
            found = await store.find(owner, turn)
            while lines := await store.read(owner, turn, after):
                after = lines[-1][0]
                yield lines
            if found is None or found.state != RUNNING or self._stopping.is_set():
                return
            await asyncio.sleep(POLL_SECONDS)

    async def forget(self, owner: str, session: str) -> None:
        """Delete the events of a conversation; those of a turn that runs when it ends."""
        self._forgotten |= {
            running.log for key, running in self._turns.items() if (key[0], running.log.session) == (owner, session)
        }
        await (await self.store()).forget(owner, session=session)

    async def aclose(self) -> None:
        """End every turn, and store what is left."""
        for running in self._turns.values():
            running.stop("interrupted")
        tasks = [running.task for running in self._turns.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
        await self._writer.aclose()
        if self._watching is not None:
            self._watching.cancel()

    async def _stop_all(self) -> None:
        await self._stopping.wait()
        for running in self._turns.values():
            running.stop("interrupted")

    async def _stored(self, log: EventLog) -> None:
        self._turns.pop((log.owner, log.turn), None)
        if log in self._forgotten:
            self._forgotten.discard(log)
            try:
                await (await self.store()).forget(log.owner, turn=log.turn)
            except UNAVAILABLE:
                logger.exception("turns.events.not_forgotten")

    async def _read_stored(self, owner: str, turn: str, after: int) -> Lines:
        return await (await self.store()).read(owner, turn, after)
