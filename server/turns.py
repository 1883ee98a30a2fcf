"""A turn over HTTP: from the request's JSON to the events of the stream, and the saving of a stored flow."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from uuid import uuid4

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
from agent.contract.requests import AssistRequest
from agent.errors import ModelChoiceError
from agent.turn.loop import agent
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnError, TurnEvent
from agent.turn.stream import TurnStream
from flows.document import Flow, JsonObject
from server.access.caller import Caller
from server.durable.document import TurnDocument
from server.durable.journal import StepJournal
from server.durable.parts import TurnParts
from server.errors import ApiError, not_stored
from server.limits.admission import admit_turn, check_message
from server.limits.slots import Slot
from server.requests.body import flow_of, validated
from server.requests.model import wanted_model
from server.requests.turn import answers_of, check_files, check_tools
from server.store.flows import FlowNotStored
from server.stored_canvas import KeptCanvas, StoredCanvas
from server.streams.running import RunningTurn, TurnExists
from server.streams.signals import is_signal
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
    async def of(cls, caller: Caller, document: JsonObject) -> AssistTurn:
        """Prepare a turn.

        Args:
            caller: who sends the message.
            document: the request's JSON.

        Raises:
            ApiError: a field is missing or wrong, there is no such flow, the model is unavailable, or a limit of the
                user is reached.
        """
        body = validated(AssistRequest, document)
        check_message(caller, body.input_value)
        if not (body.approvals or body.tool_results) and "input_value" not in document:
            raise ApiError(
                422, "invalid_request", "input_value is missing.", "Send the user's message.", "$.input_value"
            )
        if body.flow is not None and body.flow_id is not None:
            raise ApiError(
                422, "invalid_request", "Both flow and flow_id were given.", "Send one of the two.", "$.flow_id"
            )
        check_tools(body)
        session = body.session_id or f"agentic_{uuid4()}"
        turn_id = body.turn_id or uuid4().hex
        stored = None if body.flow_id is None else await _stored(caller, body.flow_id, session, turn_id)
        canvas = (
            stored.flow
            if stored
            else None
            if body.flow is None
            else flow_of(body.flow, "$.flow", caller.settings.nodes_limit)
        )
        kept = None
        if body.keep_canvas and canvas is None:
            kept = KeptCanvas(caller.assistant, caller.id, session)
            canvas = await kept.load()
        await check_files(caller, body.files)
        admission = await admit_turn(caller)
        try:
            model = await wanted_model(caller.assistant, body.provider, body.model_name, caller.id)
            answers = await answers_of(caller, body, session)
            request = TurnRequest(
                text="" if is_signal(body.input_value) else body.input_value,
                session=session,
                turn_id=turn_id,
                user=caller.id,
                scopes=tuple(caller.user.scope_names),
                flow=canvas,
                flow_id=body.flow_id,
                model=model,
                answers=answers,
                tools=tuple(body.tools),
                context=tuple(body.context),
                keep_canvas=body.keep_canvas,
                dismiss=body.dismiss,
                apply=body.apply,
                files=tuple(body.files),
                max_attempts=body.max_attempts,
                token_limit=admission.tokens,
            )
            choice = await caller.assistant.choose(model, caller.id)
            slot = admission.slot
            is_named = body.turn_id is not None
            if caller.state.durable is not None:
                found = None if stored is None else stored.loaded
                begun = TurnDocument.of(request, model or choice.provider, found, details=body.details)
                turn = cls.of_parts(await caller.state.durable.parts(begun, slot))
                turn.is_named, turn.resumable = is_named, body.resumable
                return turn
            stream = caller.assistant.turn(request, stored or kept, choice)
            turn = cls(stream, session, stored, turn_id, details=body.details, slot=slot)
            turn.is_named, turn.resumable = is_named, body.resumable
            return turn
        except ModelChoiceError as refused:
            admission.slot.release()
            error = refused.error
            raise ApiError(400, error.code, error.message, error.fix, "$.provider") from None
        except BaseException:
            admission.slot.release()
            raise

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
                else:
                    async for event in self._stream:
                        await self._tell(event)
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


async def started(caller: Caller, document: JsonObject) -> tuple[RunningTurn, bool]:
    """Start the turn that a request asks for.

    Args:
        caller: who sends the message.
        document: an `AssistRequest` as JSON.

    Returns:
        The turn, and whether it is resumable.

    Raises:
        ApiError: the request is wrong, or 409 if the client has had a turn of this id.
    """
    turn = await AssistTurn.of(caller, document)
    durable, taken = caller.state.durable, turn
    if durable is not None and turn.parts is not None:
        taken = await durable.recorded(turn, turn.parts)
    try:
        running = await caller.state.turns.start(
            caller.id, taken, turn.id, is_named=turn.is_named, resumable=turn.resumable
        )
    except TurnExists:
        fix = f"GET /api/v1/agentic/turns/{turn.id}/events follows it. Choose another id for a new turn."
        raise ApiError(409, "turn_exists", "There is a turn of this id.", fix, "$.turn_id") from None
    return running, turn.resumable


async def _stored(caller: Caller, flow_id: str, session: str, turn_id: str) -> StoredCanvas:
    store = await caller.flows()
    try:
        return StoredCanvas(await store.get(flow_id), store, session, turn_id, caller.settings.nodes_limit)
    except FlowNotStored:
        raise not_stored(flow_id, "$.flow_id") from None
