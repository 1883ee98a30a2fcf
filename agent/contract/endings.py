"""The last event of a turn: made from the turn's result, and read back into one."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, assert_never, cast, get_args

from pydantic import TypeAdapter
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RunUsage

from agent.contract.events import (
    CancelledEvent,
    CompleteData,
    CompleteEvent,
    Ending,
    ErrorEvent,
    RunFigures,
    StopReason,
    Stored,
    TokenCount,
)
from agent.contract.flow_updates import FieldEdit, TextChange
from agent.contract.model import LATER
from agent.contract.questions import EditQuestion, Question
from agent.turn.record import TurnRecord
from agent.turn.request import TurnRequest
from agent.turn.result import Intent, TurnError, TurnResult
from flows.actions import Configure
from flows.diff import diff
from flows.document import Flow, Json
from flows.json_values import Missing
from runtime.results import RunResult
from tools.approvals import Approval, EditApproval

_INTENTS = frozenset(get_args(Intent))
_QUESTIONS: TypeAdapter[Question] = TypeAdapter(Question, config=LATER)
_APPROVALS: TypeAdapter[Approval] = TypeAdapter(Approval, config=LATER)


def ending(result: TurnResult, session: str, stored: Stored | None = None) -> Ending:
    """The last event of a turn.

    Args:
        result: the turn's result.
        session: the conversation's id.
        stored: whether the stored flow was saved, if the turn worked on one.
    """
    match result.outcome:
        case "complete" | "refused" | "pending":
            return CompleteEvent(data=_complete_data(result, session).model_copy(update=_facts(stored)))
        case "cancelled":
            return cancelled(result.record, stored=stored)
        case "error":
            error = result.error or TurnError(code="internal", message="Something went wrong inside the assistant.")
            return failed(error, session, result.record, stored, usage=_tokens(result), seconds=result.seconds)
        case _:
            assert_never(result.outcome)


def cancelled(
    record: TurnRecord | None = None,
    message: str = "The turn was cancelled.",
    stored: Stored | None = None,
    reason: StopReason | None = None,
) -> CancelledEvent:
    """The last event of a turn, or of a run, that was stopped.

    Args:
        record: what the turn had done.
        message: why it was stopped, for the user.
        stored: whether the stored flow was saved, if the turn worked on one.
        reason: why it was stopped, for the client.
    """
    return CancelledEvent(message=message, reason=reason, record=_done(record), **_facts(stored))


def failed(
    error: TurnError,
    session: str | None = None,
    record: TurnRecord | None = None,
    stored: Stored | None = None,
    *,
    usage: TokenCount | None = None,
    seconds: float | None = None,
) -> ErrorEvent:
    """The last event of a turn that failed.

    Args:
        error: what happened.
        session: the conversation's id; None when the turn did not start.
        record: what the turn had done.
        stored: whether the stored flow was saved, if the turn worked on one.
        usage: the tokens that it took.
        seconds: how long it took.
    """
    return ErrorEvent(
        message=error.message,
        code=error.code,
        fix=error.fix,
        session_id=session,
        usage=usage,
        duration_seconds=seconds,
        record=_done(record),
        **_facts(stored),
    )


def _done(record: TurnRecord | None) -> TurnRecord | None:
    """The record of a turn that did not come to its end, if anything was done."""
    return record if record is not None and record.acted else None


def _facts(stored: Stored | None) -> dict[str, Any]:
    return {} if stored is None else stored.model_dump()


def _complete_data(result: TurnResult, session: str) -> CompleteData:
    data = CompleteData(
        result=result.text,
        intent=result.intent,
        session_id=session,
        flow=result.after,
        actions=len(result.actions),
        faults=result.faults,
        caveats=result.caveats,
        model=result.models[-1] if result.models else None,
        usage=_tokens(result),
        duration_seconds=result.seconds,
        files=result.files or None,
        proposal=result.proposal,
        proposal_id=result.proposal_id,
        record=result.record,
    )
    if result.actions or result.proposal is not None:
        data.validated = not result.caveats and not any(fault.is_error for fault in result.faults)
    if result.components:
        data.class_name, data.component_code = result.components[-1].class_name, result.components[-1].source
        data.validated = data.validated is not False
    if result.approvals:
        data.approvals = [question(call, approval, result.after) for call, approval in result.approvals.items()]
        data.continuation_expected = result.deferred and all(one.kind == "edit" for one in data.approvals)
    if result.withdrawn:
        data.withdrawn = [question(call, approval, result.after) for call, approval in result.withdrawn.items()]
    if result.runs:
        data.run, data.run_metrics = result.runs[-1], RunFigures.of(result.runs[-1].metrics)
    return data


def question(call: str, approval: Approval, canvas: Flow) -> Question:
    """An approval as clients receive it.

    Args:
        call: the id of the suspended tool call.
        approval: its approval.
        canvas: the current canvas.
    """
    if approval.kind == "edit":
        return EditQuestion(
            **dict(field_edit(call, approval, canvas)),
            reason=approval.reason,
            done=approval.done,
            along=approval.along,
            why=approval.why,
        )
    return _QUESTIONS.validate_python({**approval.model_dump(), "id": call})


def field_edit(call: str, approval: EditApproval, canvas: Flow) -> FieldEdit:
    """The change of a field that waits for an approval."""
    edit = approval.edit
    node = canvas.node(edit.node)
    return FieldEdit(
        id=call,
        component_id=edit.node,
        component_type="" if node is None else node.type,
        field=edit.field,
        old_value=_shown(edit.old),
        new_value=_shown(edit.new),
        description=approval.reason,
        also=[
            TextChange(component_id=one.node, field=one.field, old_value=_shown(one.old), new_value=_shown(one.new))
            for one in approval.also
        ]
        or None,
    )


def _shown(value: Json | Missing) -> Json:
    return None if isinstance(value, Missing) else value


def _tokens(result: TurnResult) -> TokenCount:
    sent = sum(usage.input_tokens for usage in result.usage.values())
    received = sum(usage.output_tokens for usage in result.usage.values())
    cached = sum(usage.cache_read_tokens for usage in result.usage.values())
    return TokenCount(
        input_tokens=sent,
        output_tokens=received,
        total_tokens=sent + received,
        cached_tokens=cached or None,
        cost=_cost(result),
    )


def _cost(result: TurnResult) -> float | None:
    """US dollars of the models that answered; None if nothing was counted, or a price is not known."""
    phases = [usage for phase, usage in result.usage.items() if phase != "flow"]
    used = [usage.cost for usage in phases if usage.total_tokens or usage.cost is not None]
    answers = [message.usage for message in result.messages if isinstance(message, ModelResponse)]
    known = [cost for cost in used if cost is not None]
    if not known or len(known) < len(used) or any(usage.total_tokens and usage.cost is None for usage in answers):
        return None
    return float(sum(known))


def turn_result(request: TurnRequest, ended: Ending) -> TurnResult:
    """The result of a turn that a server took, as far as its last event says.

    Its messages are empty, and its actions are the differences between the two canvases.

    Args:
        request: the turn's request.
        ended: the last event.
    """
    before = request.flow or Flow.empty()
    if isinstance(ended, ErrorEvent):
        error = TurnError(code=ended.code, message=ended.message, fix=ended.fix)
        return TurnResult(
            outcome="error",
            intent="build_flow",
            text="",
            before=before,
            after=before,
            seconds=0.0,
            error=error,
            record=ended.record or TurnRecord(),
        )
    if isinstance(ended, CancelledEvent):
        return TurnResult(
            outcome="cancelled",
            intent="build_flow",
            text=ended.message,
            before=before,
            after=before,
            seconds=0.0,
            record=ended.record or TurnRecord(),
        )
    data = ended.data
    after = data.flow or before
    intent = TypeAdapter[Intent](Intent).validate_python(data.intent) if data.intent in _INTENTS else "build_flow"
    runs: list[RunResult] = [] if data.run is None else [data.run]
    spent = data.usage and RunUsage(
        input_tokens=data.usage.input_tokens,
        output_tokens=data.usage.output_tokens,
        cache_read_tokens=data.usage.cached_tokens or 0,
        cost=None if data.usage.cost is None else Decimal(str(data.usage.cost)),
    )
    return TurnResult(
        outcome="pending" if data.approvals else "refused" if intent == "off_topic" else "complete",
        intent=intent,
        text=data.result,
        before=before,
        after=after,
        proposal=data.proposal,
        proposal_id=data.proposal_id,
        actions=list(diff(before, after)),
        runs=runs,
        faults=data.faults,
        caveats=data.caveats,
        approvals=approvals_of(data.approvals or ()),
        withdrawn=approvals_of(data.withdrawn or ()),
        files=data.files or [],
        record=data.record,
        usage={} if spent is None else {"main": spent},
        seconds=data.duration_seconds,
        models=[] if data.model is None else [data.model],
    )


def approvals_of(questions: Iterable[Question]) -> dict[str, Approval]:
    """What waits for the user's decision, by id, as clients received it."""
    return {one.id: _approval(one) for one in questions}


def _approval(question: Question) -> Approval:
    if question.kind != "edit":
        return _APPROVALS.validate_python(question.model_dump(exclude={"id"}))
    old, new = cast("Json", question.old_value), cast("Json", question.new_value)
    edit = Configure(question.component_id, question.field, old, new)
    also = tuple(
        Configure(one.component_id, one.field, cast("Json", one.old_value), cast("Json", one.new_value))
        for one in question.also or ()
    )
    return EditApproval(edit=edit, reason=question.reason, also=also, done=question.done, along=question.along)
