"""A durable turn as `RunningTurns` takes it: beside its workflow, which says that it is to be gone on with."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from agent.contract.events import Event, StopReason
from runtime.database.errors import StoreUnavailable
from server.durable.journal import StepJournal, StepStore
from server.durable.parts import ServedTurn
from server.streams.event_log import EventLog

log = logging.getLogger(__name__)


class RecordedTurn:
    """A turn whose steps are recorded, as `RunningTurns` takes it.

    Args:
        turn: the turn.
        journal: of the turn.
        begin: takes it when it is new, in a workflow; None for one that is in its workflow.
        note_stop: notes that it is to be stopped, so that no process goes on with it.
        steps: stores what is recorded of its steps.
    """

    def __init__(
        self,
        turn: ServedTurn,
        journal: StepJournal,
        begin: Callable[[], Coroutine[Any, Any, None]] | None,
        note_stop: Callable[[], Awaitable[None]],
        steps: StepStore,
    ) -> None:
        self._steps = steps
        self.session = turn.session
        self._turn = turn
        self._journal = journal
        self._begin = begin
        self._note_stop = note_stop
        self._log: EventLog | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._over = asyncio.Event()
        self._is_complete = False
        self._failure: BaseException | None = None
        self._send: Callable[[Event], Awaitable[None]] | None = None

    def attach(self, log: EventLog) -> None:
        """Be given where its events are written."""
        self._log = log
        self._journal.begin(self._turn, log, self._steps)
        if self._begin is None:
            self._journal.open()

    async def run(self, send: Callable[[Event], Awaitable[None]]) -> None:
        """Run to the end; a new turn beside its workflow, which is begun meanwhile."""
        self._send = send
        workflow = None if self._begin is None else asyncio.create_task(self._begin(), name="turn-workflow")
        try:
            if workflow is not None:
                workflow.add_done_callback(self._stop_unrecorded)
            await self.take()
            self._is_complete = True
        finally:
            self._over.set()
            if workflow is not None:
                await asyncio.wait([workflow])
            if self._journal.is_left and self._log is not None and self._failure is None:
                self._log.leave()
        if self._failure is not None:
            raise self._failure

    async def take(self) -> None:
        """Run to the end.

        Raises:
            asyncio.CancelledError: another process goes on with it.
        """
        assert self._send is not None  # noqa: S101  (it runs; narrows the type)
        try:
            with self._turn.in_order():
                await self._turn.run(self._send)
        finally:
            await self._journal.aclose()
        if self._log is not None and self._failure is None:
            await self._log.settled()  # whoever finds the workflow ended finds the turn ended
        if self._journal.is_left and self._failure is None:
            raise asyncio.CancelledError

    async def hold(self) -> None:
        """Keep the workflow of a new turn until the turn has ended; another process begins it again otherwise.

        Raises:
            asyncio.CancelledError: another process goes on with it.
        """
        self._journal.open()
        await self._over.wait()
        if not self._is_complete:
            raise asyncio.CancelledError

    def _stop_unrecorded(self, workflow: asyncio.Task[None]) -> None:
        """Stop a turn whose workflow has ended before it: nobody would go on with the turn."""
        if self._over.is_set():
            return
        if not workflow.cancelled():
            self._failure = workflow.exception() or RuntimeError("The workflow of a turn has ended before the turn.")
        self.leave()

    def stop(self, reason: StopReason) -> None:
        """End soon, with a last event that says why."""

        async def stop() -> None:
            try:
                await self._note_stop()
            except StoreUnavailable:
                log.exception("turns.durable.stop_not_noted")
            self._turn.stop(reason)

        self._stopping = asyncio.create_task(stop(), name="turn-stopping")

    def leave(self) -> None:
        """End soon without a last event."""
        self._journal.leave()
        self._turn.stop("interrupted")
