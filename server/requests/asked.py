"""A turn as a client asks for it: checked and admitted, and not begun."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from agent.contract.requests import AssistRequest
from agent.errors import ModelChoiceError
from agent.models.providers import ModelChoice
from agent.turn.request import TurnRequest
from flows.document import Flow, JsonObject
from server.access.caller import Caller
from server.durable.document import TurnDocument
from server.errors import ApiError, not_stored
from server.limits.admission import admit_turn, check_message
from server.limits.slots import Slot
from server.requests.body import flow_of, validated
from server.requests.model import wanted_model
from server.requests.turn import answers_of, check_files, check_tools
from server.store.flows import FlowNotStored
from server.stored_canvas import KeptCanvas, StoredCanvas
from server.streams.signals import is_signal


@dataclass(frozen=True, kw_only=True)
class AskedTurn:
    """A turn that may begin.

    Attributes:
        request: what is asked for.
        stored: the stored flow that it works on, if any.
        kept: the canvas of the conversation that it works on, if any.
        model: the provider, or the model, that the request names.
        choice: what serves it.
        slot: its place among the turns that go on.
        details: whether its events say how it started, what the model thinks and what tools do.
        is_named: whether the client has chosen its id.
        resumable: whether it goes on for a while without its client.
    """

    request: TurnRequest
    stored: StoredCanvas | None
    kept: KeptCanvas | None
    model: str | None
    choice: ModelChoice
    slot: Slot
    details: bool
    is_named: bool
    resumable: bool

    @property
    def document(self) -> TurnDocument:
        """The turn as it is recorded for the process that takes it."""
        found = None if self.stored is None else self.stored.loaded
        return TurnDocument.of(self.request, self.model or self.choice.provider, found, details=self.details)


async def asked_turn(caller: Caller, document: JsonObject) -> AskedTurn:
    """Check and admit the turn that a request asks for.

    Args:
        caller: who sends the message.
        document: an `AssistRequest` as JSON.

    Raises:
        ApiError: a field is missing or wrong, there is no such flow, the model is unavailable, or a limit of the
            user is reached.
    """
    body = validated(AssistRequest, document)
    check_message(caller, body.input_value)
    if not (body.approvals or body.tool_results) and "input_value" not in document:
        raise ApiError(422, "invalid_request", "input_value is missing.", "Send the user's message.", "$.input_value")
    if body.flow is not None and body.flow_id is not None:
        raise ApiError(422, "invalid_request", "Both flow and flow_id were given.", "Send one of the two.", "$.flow_id")
    check_tools(body)
    session = body.session_id or f"agentic_{uuid4()}"
    turn_id = body.turn_id or uuid4().hex
    stored = None if body.flow_id is None else await _stored(caller, body.flow_id, session, turn_id)
    kept, canvas = None, _canvas(caller, body, stored)
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
        return AskedTurn(
            request=request,
            stored=stored,
            kept=kept,
            model=model,
            choice=await caller.assistant.choose(model, caller.id),
            slot=admission.slot,
            details=body.details,
            is_named=body.turn_id is not None,
            resumable=body.resumable,
        )
    except ModelChoiceError as refused:
        admission.slot.release()
        error = refused.error
        raise ApiError(400, error.code, error.message, error.fix, "$.provider") from None
    except BaseException:
        admission.slot.release()
        raise


def _canvas(caller: Caller, body: AssistRequest, stored: StoredCanvas | None) -> Flow | None:
    if stored is not None:
        return stored.flow
    return None if body.flow is None else flow_of(body.flow, "$.flow", caller.settings.nodes_limit)


async def _stored(caller: Caller, flow_id: str, session: str, turn_id: str) -> StoredCanvas:
    store = await caller.flows()
    try:
        return StoredCanvas(await store.get(flow_id), store, session, turn_id, caller.settings.nodes_limit)
    except FlowNotStored:
        raise not_stored(flow_id, "$.flow_id") from None
