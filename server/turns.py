"""A turn over HTTP: from the request's JSON to the events of the stream, and the saving of a stored flow."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager

import anyio

from agent.contract.details import StartedEvent
from agent.contract.endings import cancelled, failed
from agent.contract.events import (
    CancelledEvent,
    CompleteEvent,
    ErrorEvent,
    Event,
    StopReason,
    Stored,
)
from agent.errors import ModelChoiceError
from agent.turn.loop import agent
from agent.turn.result import TurnEnded, TurnError, TurnEvent
from agent.turn.stream import TurnStream
from flows.document import Flow, JsonObject
from server.access.caller import Caller
from server.durable.journal import StepJournal
from server.durable.parts import TurnParts
from server.durable.queued import turn_job
from server.elsewhere.queued import QueuedTurn
from server.errors import ApiError
from server.limits.slots import Slot
from server.requests.asked import AskedTurn, asked_turn
from server.stored_canvas import StoredCanvas
from server.streams.running import RunningTurn, TurnExists
from server.streams.sse import SseEncoder
from tools.events import Progress

SAVE_SECONDS = 10.0
"""How long saving a turn's changes may take when its client has disconnected."""

STOPPED: Mapping[StopReason, str] = {
    "stopped": "The turn was cancelled.",
    "abandoned": "The turn was cancelled, because its client was gone.",
    "interrupted": "The server is stopping; what was done so far is kept.",
}
"""What is said of a turn that was stopped."""

TOO_SLOW = TurnError(code="timeout", message="The turn took longer than it may.", fix="Ask for less at a time.")

log = logging.getLogger(__name__)


class AssistTurn:
    """One turn of a client. Nothing happens before it is run.

    Args:
        stream: the assistant's turn.
        session: the conversation's id.
        stored: the stored flow that the turn works on, if any.
        turn_id: the turn's id.
        is_named: whether the client has chosen it.
        resumable: whether the turn goes on for a while without its client.
        details: whether its events say how it started, what the model thinks and what tools do.
        slot: its place among the turns that go on.
        journal: records its steps, if it is durable.
    """

    def __init__(
        self,
        stream: TurnStream,
        session: str,
        stored: StoredCanvas | None,
        turn_id: str,
        *,
        is_named: bool = False,
        resumable: bool = False,
        details: bool = False,
        slot: Slot,
        journal: StepJournal | None = None,
    ) -> None:
        self._journal = journal
        self.parts: TurnParts | None = None
        self._has_ended = self._has_begun = False
        self._send: Callable[[Event], Awaitable[None]] | None = None
        self.session = session
        self.id = turn_id
        self.is_named = is_named
        self.resumable = resumable
        self._stream = stream
        self._encoder = SseEncoder(session, details=details)
        self._details = details
        self._stored = stored
        self._slot = slot
        slot.release_with(self)
        self._scope = anyio.CancelScope()
        self._stopped: StopReason | None = None

    @classmethod
    async def of(cls, caller: Caller, asked: AskedTurn) -> AssistTurn:
        """Prepare a turn that this server takes.

        Args:
            caller: who sends the message.
            asked: what is asked for.

        Raises:
            ApiError: the model is unavailable.
        """
        request, durable = asked.request, caller.state.durable
        try:
            if durable is not None:
                turn = cls.of_parts(await durable.parts(asked.document, asked.slot))
            else:
                stream = caller.assistant.turn(request, asked.stored or asked.kept, asked.choice)
                turn = cls(
                    stream, request.session, asked.stored, request.turn_id, details=asked.details, slot=asked.slot
                )
        except ModelChoiceError as refused:
            asked.slot.release()
            error = refused.error
            raise ApiError(400, error.code, error.message, error.fix, "$.provider") from None
        except BaseException:
            asked.slot.release()
            raise
        turn.is_named, turn.resumable = asked.is_named, asked.resumable
        return turn

    @classmethod
    def of_parts(cls, parts: TurnParts) -> AssistTurn:
        """A durable turn."""
        request = parts.document.request
        turn = cls(
            parts.stream,
            request.session,
            parts.stored,
            request.turn_id,
            details=parts.document.details,
            slot=parts.slot,
            journal=parts.journal,
        )
        turn.parts = parts
        return turn

    def stop(self, reason: StopReason) -> None:
        """End the turn soon; its last event says why. Its changes to a stored flow are saved all the same."""
        self._stopped = self._stopped or reason
        self._scope.cancel()

    async def run(self, send: Callable[[Event], Awaitable[None]]) -> None:
        """Run the turn.

        Args:
            send: receives the events as clients do, up to `complete`, `error` or `cancelled`.
        """
        self._send = send
        over = asyncio.ensure_future(self._slot.over.wait())
        over.add_done_callback(lambda ended: ended.cancelled() or self._scope.cancel())
        try:
            with self._scope:
                if self._journal is not None:
                    await self._journal.begun()
                await self._stream.take(self._tell)
            if not (self._has_ended or self._is_left):
                await self._stream.aclose()
                await send(self._stopped_early(await self._save()))
        except Exception:
            if self._is_left:
                return
            log.exception("assist.turn.failed")
            await self._stream.aclose()
            stored = await self._save()
            failure = TurnError(code="internal", message="Something went wrong inside the server.", fix="Try again.")
            await send(failed(failure, self.session, self._stream.record, stored))
        finally:
            over.cancel()
            if not self._is_left:
                with anyio.move_on_after(SAVE_SECONDS, shield=True):
                    await self._stream.aclose()
                    await self._save()
            self._slot.release()

    @staticmethod
    def in_order() -> AbstractContextManager[None]:
        """Let tools be called one after another in the block, so that their steps always have the same order."""
        return agent.parallel_tool_call_execution_mode("sequential")

    @property
    def _is_left(self) -> bool:
        """Whether another process goes on with the turn."""
        return self._journal is not None and self._journal.is_left

    @property
    def canvas(self) -> Flow:
        """The canvas with every change so far."""
        return self._stream.canvas

    @property
    def place(self) -> JsonObject:
        """What is remembered from one event to the next."""
        return {"has_text": self._encoder.has_text, "has_begun": self._has_begun}

    def go_on_at(self, place: JsonObject) -> None:
        """Remember what `place` was in another process."""
        self._encoder.has_text, self._has_begun = bool(place.get("has_text")), bool(place.get("has_begun"))

    async def send(self, event: Event) -> None:
        """Send an event to the clients."""
        assert self._send is not None  # noqa: S101  (it runs; narrows the type)
        await self._send(event)

    async def _tell(self, event: TurnEvent) -> None:
        """Send what an event of the turn is for clients; nothing while what was told before is done over."""
        stored = await self._save() if isinstance(event, TurnEnded) else None
        if self._journal is not None and self._journal.is_silent:
            return
        if self._details and not self._has_begun and not isinstance(event, Progress):
            self._has_begun = True
            await self.send(self._started())
        for encoded in self._encoder.encode(event, stored):
            self._has_ended = self._has_ended or isinstance(encoded, CompleteEvent | ErrorEvent | CancelledEvent)
            await self.send(self._with_merged(encoded))

    def _started(self) -> StartedEvent:
        """What is sent before all but progress: by then the turn has waited for others, and has read its flow."""
        flow_id = None if self._stored is None else self._stored.flow_id
        return StartedEvent(session_id=self.session, flow_id=flow_id, flow=self._stream.canvas)

    def _stopped_early(self, stored: Stored | None) -> Event:
        """The last event of a turn that was stopped."""
        if self._stopped is None and self._slot.over.is_set():
            return failed(TOO_SLOW, self.session, self._stream.record, stored)
        reason = self._stopped or "interrupted"
        return cancelled(self._stream.record, STOPPED[reason], stored, reason)

    def _with_merged(self, event: Event) -> Event:
        """The last event with the flow as it was stored, when that has changes of others as well."""
        merged = None if self._stored is None else self._stored.merged
        if merged is not None and isinstance(event, CompleteEvent):
            event.data.flow = merged
        return event

    async def _save(self) -> Stored | None:
        """Save the turn's canvas as one revision of the stored flow, once; returns whether and how it was saved."""
        return None if self._stored is None else await self._stored.save(self._stream.canvas)


async def started(caller: Caller, document: JsonObject) -> tuple[RunningTurn | QueuedTurn, bool]:
    """Start the turn that a request asks for, or queue it where workers take turns.

    Args:
        caller: who sends the message.
        document: an `AssistRequest` as JSON.

    Returns:
        The turn, and whether it is resumable.

    Raises:
        ApiError: the request is wrong, or 409 if the client has had a turn of this id.
        QueueFull: too many jobs of the user wait.
    """
    asked = await asked_turn(caller, document)
    if caller.settings.queues_turns:
        return await _queued(caller, asked), asked.resumable
    turn = await AssistTurn.of(caller, asked)
    durable, taken = caller.state.durable, turn
    if durable is not None and turn.parts is not None:
        taken = await durable.recorded(turn, turn.parts)
    try:
        running = await caller.state.turns.start(
            caller.id, taken, turn.id, is_named=turn.is_named, resumable=turn.resumable
        )
    except TurnExists:
        raise _exists(turn.id) from None
    return running, turn.resumable


async def _queued(caller: Caller, asked: AskedTurn) -> QueuedTurn:
    """Ask for a worker; the place that a turn has here is for the time until then."""
    request = asked.request
    try:
        job = turn_job(asked.document, caller.settings.work_seconds)
        turns = caller.state.turns.elsewhere
        queued = await turns.add(request.session, request.turn_id, job, resumable=asked.resumable)
    finally:
        asked.slot.release()
    if queued is None:
        raise _exists(request.turn_id)
    return queued


def _exists(turn: str) -> ApiError:
    fix = f"GET /api/v1/agentic/turns/{turn}/events follows it. Choose another id for a new turn."
    return ApiError(409, "turn_exists", "There is a turn of this id.", fix, "$.turn_id")
