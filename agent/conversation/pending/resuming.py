"""What a resumed turn is told about the answers to its approvals."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pydantic_ai import DeferredToolResults, ModelResponse, ToolApproved, ToolCallPart, ToolDenied

from agent.conversation.memory import ConversationState, Pending
from agent.conversation.pending.approvals import Outcome, all_applied
from agent.errors import AssistantUnavailable
from agent.toolsets.client import shown_result
from agent.turn.request import Answer, ToolAnswered
from agent.turn.result import TurnError
from flows.actions import Configure
from flows.document import Flow
from tools.approvals import RAN_WITHOUT, Approval, held_metadata, note_metadata, rest_metadata
from tools.consent.ask import consent_metadata
from tools.replies import clip

NOT_CALLED = "Not done: it waited for an earlier call, which the user did not approve. Call it again if it still fits."
"""The answer to a call that waited for a denied one."""


def tool_results(pending: Pending, wanted: str, canvas: Flow | None) -> DeferredToolResults:
    """The results with which the agent continues.

    Args:
        pending: the suspended turn, with all answers.
        wanted: the words in which the user asked for what was denied to be done differently; empty for a plain no.
        canvas: the canvas of the request, if it has one.
    """
    results, denied = DeferredToolResults(), False
    for call in pending.calls or pending.approvals:
        answer, rest, asked = pending.answers.get(call), pending.rests.get(call), pending.approvals.get(call)
        if asked is not None and asked.kind == "tool":
            results.calls[call] = _client_result(answer)
            continue
        left = rest_metadata(rest) if rest else {}
        goes_on = ToolApproved(override_args={**_arguments(pending, call), **rest}) if rest else ToolApproved()
        if answer is None:
            results.approvals[call] = ToolDenied(NOT_CALLED) if denied else goes_on
            results.metadata[call] = held_metadata() | consent_metadata(pending.consents.get(call, [])) | left
            continue
        if isinstance(answer, ToolDenied):
            denied = True
            results.approvals[call] = ToolDenied(_denial(answer, pending.approvals[call], wanted, canvas))
            continue
        if isinstance(answer, ToolAnswered):  # which is none to a question for the user: refused when it was given
            continue
        note = changed = _changed_arguments(answer, _arguments(pending, call))
        results.approvals[call] = answer if changed else goes_on
        if not changed and (done := _done(pending.approvals[call])) and rest:
            note = f"Done before the question: {done}."
        given = [*pending.consents.get(call, []), pending.approvals[call]]
        told = note_metadata(note) if note else {}
        results.metadata[call] = consent_metadata(given, changed=bool(changed)) | told | left
    return results


MOVED_ON = "The flow has changed since this was asked, so it was withdrawn."
"""The reason of a denial that is none of the user's."""


def withdraw_expired(state: ConversationState, days: float) -> None:
    """Withdraw what has waited for more than so many days."""
    if state.pending is None or not state.updated_at:
        return
    if datetime.now(UTC) - datetime.fromisoformat(state.updated_at) > timedelta(days=days):
        state.note_answers(dict.fromkeys(state.pending.unanswered, "withdrawn"))
        state.pending = None


def moved_on(pending: Pending, canvas: Flow) -> dict[str, Approval]:
    """The questions about texts that are not on the canvas any more as they were when it was asked.

    Args:
        pending: the suspended turn.
        canvas: the canvas now.
    """
    if pending.proposal is not None:
        return {}
    return {
        call: approval
        for call, approval in pending.unanswered.items()
        if approval.kind == "edit" and not all(_still_fits(edit, canvas) for edit in approval.edits)
    }


def _still_fits(edit: Configure, canvas: Flow) -> bool:
    node = canvas.node(edit.node)
    field = None if node is None else node.field(edit.field)
    return field is not None and field.get("value") in (edit.old, edit.new)


def refuse_mistaken(pending: Pending, answers: Mapping[str, Answer]) -> None:
    """Refuse a yes to a call of the client's tools, and a result of one to a question for the user.

    Args:
        pending: the suspended turn.
        answers: by tool call id.

    Raises:
        AssistantUnavailable: one of the answers is of the wrong sort.
    """
    for call, answer in answers.items():
        is_call = pending.approvals[call].kind == "tool"
        if not isinstance(answer, ToolDenied) and isinstance(answer, ToolAnswered) != is_call:
            message = f"{call[:100]!r} waits for {'the result of a tool' if is_call else 'a decision of the user'}."
            fix = f"Send it in {'tool_results' if is_call else 'approvals'}."
            raise AssistantUnavailable(TurnError(code="wrong_answer", message=message, fix=fix))


def _client_result(answer: Answer | None) -> object:
    """What came of a call of the client's, as the model reads it; without a result, that there is none."""
    if isinstance(answer, ToolAnswered):
        return shown_result(answer.content)
    words = _reason(answer) if isinstance(answer, ToolDenied) else ""
    said = _sentence(f"The user wrote instead: {words}") if words else "The user did not allow it."
    return f"Not carried out. {said}"


def outcomes(pending: Pending, wanted: str) -> tuple[Mapping[str, Outcome], str]:
    """What became of the approvals of an answered turn, and the user's words for it."""
    refused: Outcome = "changed" if wanted else "denied"
    found: dict[str, Outcome] = {
        call: refused if isinstance(answer, ToolDenied) else "approved" for call, answer in pending.answers.items()
    }
    reasons = {_reason(answer) for answer in pending.answers.values() if isinstance(answer, ToolDenied)} - {""}
    return found, wanted or " / ".join(sorted(reasons))


def _denial(answer: ToolDenied, approval: Approval, wanted: str, canvas: Flow | None) -> str:
    """What a denied call answers: the user's words, and what was changed all the same."""
    reason = _reason(answer)
    if wanted:
        follow = _NEXT_PLAN if approval.kind == "plan" else "Make the call again as they want it."
        said, then = _sentence(f"The user wants it done differently: {wanted}"), follow
    else:
        said = _sentence(f"The user said no: {reason}") if reason else "The user said no."
        then = "Do not ask for the same again."
    return f"{said} {_left(approval, canvas)} {then}"


def _sentence(text: str) -> str:
    """A text that ends as a sentence, so that what follows is not read as its end."""
    return text if text.endswith((".", "!", "?", "。", "!", "?", "…")) else f"{text}."


_NEXT_PLAN = "If these words tell you to go ahead, build it so now. If not, propose the changed plan."


def _left(approval: Approval, canvas: Flow | None) -> str:
    if approval.kind == "removal" and approval.done:
        return f"What was asked was not done; {_done(approval)} had been set before the question."
    if approval.kind == "outbound" and approval.detail == RAN_WITHOUT:
        return f"The flow has run, but could not reach {', '.join(approval.hosts)}."
    if approval.kind != "edit":
        return "Nothing was changed by this call."
    edit = approval.edit
    if canvas is not None and all_applied(approval.edits, canvas):
        return f"But {edit.field} of {edit.node} has the new text already: it was changed on the canvas meanwhile."
    if not approval.done:
        return "Nothing was changed by this call."
    done = ", ".join(f"{one} of {edit.node}" if one.isidentifier() else one for one in approval.done)
    return f"{edit.field} was not changed; {done} had been set before the question."


def _done(approval: Approval) -> str:
    return ", ".join(approval.done) if approval.kind == "edit" or approval.kind == "removal" else ""


def _reason(answer: ToolDenied) -> str:
    reason = answer.message.strip()
    return "" if reason == ToolDenied().message else reason


def _changed_arguments(answer: Answer, given: Mapping[str, object]) -> str:
    """What the user changed in the arguments of an approved call."""
    if not isinstance(answer, ToolApproved) or answer.override_args is None:
        return ""
    changed = {name: value for name, value in answer.override_args.items() if given.get(name) != value}
    if not changed:
        return ""
    shown = clip(json.dumps(changed, ensure_ascii=False, default=str))
    return f"The user approved the call with other arguments than yours, and these were used: {shown}"


def _arguments(pending: Pending, call: str) -> Mapping[str, object]:
    parts = (part for message in pending.messages if isinstance(message, ModelResponse) for part in message.parts)
    found = (part for part in parts if isinstance(part, ToolCallPart) and part.tool_call_id == call)
    part = next(found, None)
    return {} if part is None else part.args_as_dict()


def approved_hosts(resumed: Pending | None) -> frozenset[str]:
    """The hosts that the user agreed to when they answered a suspended turn."""
    answers = {} if resumed is None else resumed.answers
    agreed = [call for call, answer in answers.items() if isinstance(answer, ToolApproved)]
    asked = [resumed.approvals[call] for call in agreed] if resumed is not None else []
    return frozenset(host for one in asked if one.kind == "outbound" for host in one.hosts)
