"""The two fixed messages with which the page of Langflow's own assistant approves, and what they approve here."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_ai import ToolApproved

from agent.turn.request import Answer
from tools.approvals import Approval

PLAN_APPROVED = "User approved the plan. Proceed with the build."
"""Sent when the user continues with a plan."""

EDITS_APPROVED = (
    "The proposed canvas edits were applied. Continue with the remaining steps of my previous request "
    "(for example, running the flow). If editing was the entire request, just confirm briefly."
)
"""Sent when the user has accepted proposed edits."""

_KINDS = {PLAN_APPROVED: "plan", EDITS_APPROVED: "edit"}


def is_signal(text: str) -> bool:
    """Whether a message is exactly one of the two."""
    return text.strip() in _KINDS


def signal_of(text: str) -> str:
    """The kind of approvals that a signal gives: `plan` or `edit`."""
    return _KINDS[text.strip()]


def approved_by(text: str, pending: Mapping[str, Approval]) -> dict[str, Answer]:
    """The answers that a signal gives: everything of its kind is approved.

    Args:
        text: a message that is a signal.
        pending: the approvals that the conversation waits for, by tool call id.
    """
    kind = signal_of(text)
    return {call: ToolApproved() for call, approval in pending.items() if approval.kind == kind}
