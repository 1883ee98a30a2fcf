"""What the assistant asked the user, and what became of it, as the history of a conversation keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from flows.actions import Configure
from flows.document import Flow
from tools.approvals import Approval, approval_text
from tools.replies import clip

Outcome: TypeAlias = Literal["open", "approved", "changed", "denied", "withdrawn"]
"""What became of an approval: it waits, or the user said yes, wanted it differently, said no, or did not answer."""

TEXT_LIMIT = 500
"""How many characters of a question, and of the reason for its answer, the history keeps."""

_OUTCOMES: Mapping[Outcome, str] = {
    "open": "still waiting for an answer",
    "approved": "the user approved it",
    "changed": "the user wanted it differently",
    "denied": "the user said no",
    "withdrawn": "not done: the user went on to something else without answering",
}


_CALLS: Mapping[Outcome, str] = {
    "open": "no result yet",
    "approved": "it was carried out",
    "changed": "not carried out",
    "denied": "not carried out",
    "withdrawn": "not carried out: the user went on to something else",
}


class AskedApproval(BaseModel):
    """One approval that a turn asked for.

    Attributes:
        call: the id of the tool call.
        kind: the kind of approval.
        text: what it asked.
        outcome: what became of it.
        reason: the user's words for that.
    """

    model_config = ConfigDict(frozen=True)

    call: str
    kind: str
    text: str
    outcome: Outcome = "open"
    reason: str = ""

    @classmethod
    def of(cls, call: str, approval: Approval) -> AskedApproval:
        """The entry of an approval that waits."""
        return cls(call=call, kind=approval.kind, text=clip(approval_text(approval), TEXT_LIMIT))

    @property
    def line(self) -> str:
        """What a model reads about it."""
        reason = f": {self.reason}" if self.reason else ""
        if self.kind == "tool":
            return f"(Called the application's tool {self.text} — {_CALLS[self.outcome]}{reason})"
        return f"(Asked for approval, {self.kind}: {self.text} — {_OUTCOMES[self.outcome]}{reason})"


def noted(asked: Iterable[AskedApproval], outcomes: Mapping[str, Outcome], reason: str) -> list[AskedApproval]:
    """The entries with what became of those that were open.

    Args:
        asked: the entries of a turn.
        outcomes: what became of them, by tool call id.
        reason: the user's words.
    """
    words = clip(reason, TEXT_LIMIT)
    return [
        one.model_copy(update={"outcome": outcomes[one.call], "reason": words})
        if one.outcome == "open" and one.call in outcomes
        else one
        for one in asked
    ]


def all_applied(edits: Sequence[Configure], canvas: Flow) -> bool:
    """Whether the new values of edits are all on a canvas already."""
    for edit in edits:
        node = canvas.node(edit.node)
        field = None if node is None else node.field(edit.field)
        if field is None or field.get("value") != edit.new or edit.new == edit.old:
            return False
    return True
