"""What a resumed turn is told about the answers to its approvals."""

import json
from collections.abc import Mapping

from pydantic_ai import DeferredToolResults, ModelResponse, ToolApproved, ToolCallPart, ToolDenied

from agent.conversation.asked import Outcome, stand
from agent.conversation.memory import Pending
from agent.turn.request import Answer
from flows.document import Flow
from tools.approvals import Approval, held_metadata, note_metadata
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
        answer = pending.answers.get(call)
        if answer is None:
            results.approvals[call] = ToolDenied(NOT_CALLED) if denied else ToolApproved()
            results.metadata[call] = held_metadata()
            continue
        if isinstance(answer, ToolDenied):
            denied = True
            results.approvals[call] = ToolDenied(_denial(answer, pending.approvals[call], wanted, canvas))
            continue
        results.approvals[call] = answer
        note = _changed_arguments(answer, _arguments(pending, call))
        if note:
            results.metadata[call] = note_metadata(note)
    return results


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
        follow = "Propose the changed plan." if approval.kind == "plan" else "Make the call again as they want it."
        said, then = f"The user wants it done differently: {wanted}", follow
    else:
        said, then = f"The user said no: {reason}" if reason else "The user said no.", "Do not ask for the same again."
    return f"{said} {_left(approval, canvas)} {then}"


def _left(approval: Approval, canvas: Flow | None) -> str:
    if approval.kind != "edit":
        return "Nothing was changed by this call."
    edit = approval.edit
    if canvas is not None and stand(approval.edits, canvas):
        return f"But {edit.field} of {edit.node} has the new text already: it was changed on the canvas meanwhile."
    if not approval.done:
        return "Nothing was changed by this call."
    return f"{edit.field} was not changed; {', '.join(approval.done)} of {edit.node} had been set before the question."


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
