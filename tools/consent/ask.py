"""Asking for the user's consent: a call goes on when what it asks was approved, and is suspended otherwise."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai import ApprovalRequired, RunContext

from flows.actions import Configure
from tools.approvals import (
    Approval,
    Consent,
    EditApproval,
    PlanApproval,
    ToolApproval,
    approval_metadata,
    read_rest,
    rest_metadata,
)
from tools.workbench import Workbench

_GIVEN = "consents"
_CHANGED = "changed"
_MANY: TypeAdapter[list[Approval]] = TypeAdapter(list[Approval])


@dataclass(frozen=True)
class Given:
    """What the user has approved for one tool call.

    Attributes:
        approvals: what was asked and approved, in order.
        changed: whether the user has chosen the call's arguments; an approval then covers all that its kind can ask.
    """

    approvals: tuple[Approval, ...] = ()
    changed: bool = False

    def covers(self, question: Consent) -> bool:
        """Whether everything that a question is about was approved; an approval of one thing is none of another."""
        asked = subjects(question)
        same = [one for one in self.approvals if one.kind == question.kind]
        if same and self.changed:
            return True
        return any(
            asked <= subjects(one) for one in same if not isinstance(one, PlanApproval | EditApproval | ToolApproval)
        )

    def covers_text(self, change: Configure) -> bool:
        """Whether the replacement of a text was approved, with the user's own text if they chose another."""
        edits = [edit for one in self.approvals if one.kind == "edit" for edit in one.edits]
        return any(
            (edit.node, edit.field) == (change.node, change.field) and (self.changed or edit.new == change.new)
            for edit in edits
        )


def ask(ctx: RunContext[Workbench], question: Consent) -> None:
    """Return when the user has approved exactly this for the call; suspend the call to ask otherwise.

    A call may ask one question after another; it is made anew after each answer, and must do nothing before the last.

    Args:
        ctx: the tool call.
        question: what is asked; nothing beyond its subjects may then be done.

    Raises:
        ApprovalRequired: it has not been approved yet.
    """
    given = consents(ctx)
    if given.covers(question):
        return
    raise ApprovalRequired(metadata=approval_metadata(question) | carried(ctx))


def carried(ctx: RunContext[Workbench]) -> dict[str, Any]:
    """The metadata that a call keeps when it is suspended again: what was approved for it, and what is left of it."""
    rest = read_rest(ctx.tool_call_metadata)
    return consent_metadata(consents(ctx).approvals) | (rest_metadata(rest) if rest else {})


def consents(ctx: RunContext[Workbench]) -> Given:
    """What the user has approved for a call so far."""
    return Given(approvals=read_consents(ctx.tool_call_metadata), changed=_changed(ctx.tool_call_metadata))


def subjects(question: Consent) -> frozenset[str]:
    """What a question is about: components, files, hosts, packages or a variable."""
    match question.kind:
        case "install":
            return frozenset((question.bundle, *question.packages))
        case "removal":
            return frozenset(question.targets)
        case "outbound":
            return frozenset(question.hosts)
        case "secret":
            return frozenset((question.variable,))


def consent_metadata(approvals: Collection[Approval], *, changed: bool = False) -> dict[str, Any]:
    """The metadata of a tool call that says what the user has approved for it.

    Args:
        approvals: what was approved.
        changed: whether the user has chosen other arguments for the call.
    """
    return {_GIVEN: [one.model_dump(mode="json") for one in approvals], _CHANGED: changed}


def read_consents(metadata: dict[str, Any] | None) -> tuple[Approval, ...]:
    """What was approved for a tool call, as its metadata says.

    Raises:
        pydantic.ValidationError: the metadata holds something else.
    """
    return tuple(_MANY.validate_python([] if metadata is None else metadata.get(_GIVEN, [])))


def _changed(metadata: dict[str, Any] | None) -> bool:
    return metadata is not None and metadata.get(_CHANGED) is True
