"""What a transcript has: messages, each with its parts in order. What only says how far a turn is, is none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny
from pydantic_core import PydanticSerializationError

from agent.conversation.shortened import shortened
from tools.approvals import Approval
from tools.json_types import FlowObject

Answered: TypeAlias = Literal["approved", "changed", "denied", "withdrawn"]
"""The answer to an approval: yes, yes but otherwise, no, or that the user went on to something else."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)


class UserText(_Part):
    """What the user wrote.

    Attributes:
        text: the message.
        files: the user's files that it is about.
    """

    kind: Literal["user"] = "user"
    text: str
    files: list[str] = Field(default_factory=list[str])


class GivenAnswer(_Part):
    """The answer to an approval, or to a proposal, that was asked in this message or an earlier one.

    Attributes:
        id: the id of the approval or the proposal.
        decision: what was decided.
        reason: the user's words for it.
    """

    kind: Literal["answer"] = "answer"
    id: str
    decision: Answered
    reason: str = ""


class ToolCall(_Part):
    """A call of a tool.

    Attributes:
        id: the id of the call.
        tool: the tool's name.
        arguments: what it was given.
    """

    kind: Literal["tool_call"] = "tool_call"
    id: str
    tool: str
    arguments: dict[str, Any]


class ToolResult(_Part):
    """What a tool answered.

    Attributes:
        id: the id of the call.
        tool: the tool's name.
        content: the answer as text.
        ok: whether the call was carried out.
    """

    kind: Literal["tool_result"] = "tool_result"
    id: str
    tool: str
    content: str
    ok: bool


class SaidBeside(_Part):
    """What the model said before it called a tool; no part of its answer, and it may claim too much.

    Attributes:
        text: what it said.
    """

    kind: Literal["remark"] = "remark"
    text: str


class AskedQuestion(_Part):
    """An approval that was asked for.

    Attributes:
        id: what answers name.
        approval: the question.
    """

    kind: Literal["approval"] = "approval"
    id: str
    approval: Approval


class OfferedFlow(_Part):
    """A whole flow that was built.

    Attributes:
        id: what answers name; null for one that was put on the canvas at once.
        name: the flow's name.
        status: whether it waits for the user, or stands on the canvas.
        flow: the flow; null where it was left out because the message is long.
    """

    kind: Literal["proposal"] = "proposal"
    id: str | None
    name: str
    status: Literal["offered", "applied"]
    flow: FlowObject | None


class ChangedFile(_Part):
    """A file of the user's that has changed.

    Attributes:
        path: its path.
        change: what became of it.
        size: its size afterwards, in bytes.
    """

    kind: Literal["file"] = "file"
    path: str
    change: Literal["created", "replaced", "edited", "deleted"]
    size: int


class MadeRun(_Part):
    """A run of a flow.

    Attributes:
        id: the id in the list of runs; null for a run that verified a flow.
        by: who asked for it.
        input: the text that it was given; null for the values as configured.
        output: the chat output; null if there was none.
        error: why it failed; null if it did not.
    """

    kind: Literal["run"] = "run"
    id: str | None
    by: Literal["user", "verification"]
    input: str | None
    output: str | None
    error: str | None


class AssistantText(_Part):
    """The assistant's answer.

    Attributes:
        text: the answer.
    """

    kind: Literal["assistant"] = "assistant"
    text: str


class Recorded(_Part):
    """What was done, by the record of the turn, which code makes.

    Attributes:
        text: the record in the user's language.
        disagrees: whether the answer still says otherwise; the answer then begins with the record.
    """

    kind: Literal["record"] = "record"
    text: str
    disagrees: bool = False


class Failure(_Part):
    """Says that a turn ended without an answer.

    Attributes:
        code: a stable code; `cancelled` when it was stopped.
        message: what happened.
        fix: what the user can do.
    """

    kind: Literal["failure"] = "failure"
    code: str
    message: str
    fix: str = ""


Part: TypeAlias = Annotated[
    UserText
    | GivenAnswer
    | ToolCall
    | ToolResult
    | SaidBeside
    | AskedQuestion
    | OfferedFlow
    | ChangedFile
    | MadeRun
    | AssistantText
    | Recorded
    | Failure,
    Field(discriminator="kind"),
]
"""A part of a message."""


class TranscriptMessage(BaseModel):
    """What the user sent at one time, and everything that came of it.

    Attributes:
        id: its id, unique in its conversation: that of its turn.
        at: when the turn ended, ISO 8601 in UTC.
        flow_id: the stored flow that it was about; null without one.
        version: the version of that flow before it; null without one.
        parts: what was said and done, in order.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    at: str
    flow_id: str | None
    version: int | None
    parts: list[SerializeAsAny[Part]]  # each by its own type: a union would write each part twice

    def to_json(self) -> str:
        """The message as JSON; halves of characters, which a flow may have, become escapes."""
        return self._written

    @cached_property
    def _written(self) -> str:  # its length is looked at before it is stored
        try:
            return self.model_dump_json()
        except PydanticSerializationError:
            return json.dumps(self.model_dump(), separators=(",", ":"))

    @classmethod
    def from_json(cls, document: str) -> TranscriptMessage:
        """Read a message that `to_json` wrote."""
        return cls.model_validate(json.loads(document))

    @property
    def text(self) -> str:
        """What the user wrote; empty for answers to approvals alone."""
        return next((part.text for part in self.parts if isinstance(part, UserText)), "")

    @property
    def preview(self) -> str:
        """The beginning of the last thing that was said, on one line."""
        said = [part for part in self.parts if isinstance(part, AssistantText | Failure | UserText)]
        last = said[-1] if said else None
        return shortened(last.message if isinstance(last, Failure) else last.text if last else "", PREVIEW)


PREVIEW = 160
"""Characters of a preview."""


class TranscriptEntry(BaseModel):
    """A conversation as lists show it.

    Attributes:
        id: its session's id.
        title: what it is called: the beginning of its first message, unless it was renamed.
        preview: the beginning of the last thing that was said.
        created_at: when it began, ISO 8601 in UTC.
        updated_at: when its last turn ended.
        flow_id: the stored flow that its last message was about; null without one.
        messages: how many messages it has.
        waiting: whether a question waits for the user's answer.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    title: str
    preview: str
    created_at: str
    updated_at: str
    flow_id: str | None
    messages: int
    waiting: bool


@dataclass(frozen=True, kw_only=True)
class NewMessage:
    """A message that is added to a transcript when its conversation is saved.

    Attributes:
        message: the message.
        title: what the conversation is called if this is its first one.
        waiting: whether a question waits now.
        before: the conversation as it was before it, as JSON; empty for a new one.
    """

    message: TranscriptMessage
    title: str
    waiting: bool
    before: str
