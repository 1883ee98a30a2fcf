"""Approvals: questions that a suspended tool call asks the user."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from flows.actions import Configure
from flows.fields.secrets import is_secret
from flows.json_values import JsonObject
from tools.json_types import ConfigureJson

NOT_ASKED: Literal["not_asked"] = "not_asked"
UNNAMED_HOST: Literal["unnamed_host"] = "unnamed_host"

RAN_WITHOUT = "It has been run, and was refused this."
"""What a question about a host says when a run has tried to reach it."""

Why: TypeAlias = Literal["", "not_asked", "unnamed_host"]
"""Why something is asked: the message does not ask for it, or does not name a host after others' text was read; empty
when its kind says it, as for texts, which are always proposed first."""


class PlanApproval(BaseModel):
    """Asks whether a plan may be carried out.

    Attributes:
        markdown: the plan, for the user to read.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["plan"] = "plan"
    markdown: str


class EditApproval(BaseModel):
    """Asks whether a text on the canvas may be replaced.

    Attributes:
        edit: the change; its `old` is the current text.
        reason: why, in the assistant's words.
        also: further texts that the same call replaces.
        done: the fields that the same call has set already, or its lines that were carried out, because they need no
            approval.
        along: what else the same call does once it is approved.
        why: why it is asked.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["edit"] = "edit"
    edit: ConfigureJson
    reason: str = ""
    also: tuple[ConfigureJson, ...] = ()
    done: list[str] = Field(default_factory=list[str])
    along: list[str] = Field(default_factory=list[str])
    why: Why = ""

    @property
    def edits(self) -> tuple[Configure, ...]:
        """All texts that the call replaces."""
        return (self.edit, *self.also)


class _Consent(BaseModel):
    """Asks whether something may be done that the original assistant never asked about.

    Attributes:
        title: the question in a few words.
        detail: what the user should know before answering.
        why: why it is asked.
        along: what else the same call does once it is approved.
    """

    model_config = ConfigDict(frozen=True)

    title: str
    detail: str = ""
    why: Why = ""
    along: list[str] = Field(default_factory=list[str])


class InstallApproval(_Consent):
    """Asks whether packages may be installed.

    Attributes:
        bundle: the component bundle that needs them.
        packages: what is installed, as requirements.
        size_mb: how large the download is in megabytes, if that is known.
    """

    kind: Literal["install"] = "install"
    bundle: str
    packages: list[str] = Field(default_factory=list[str])
    size_mb: float | None = None


class RemovalApproval(_Consent):
    """Asks whether something of the user's may be removed or overwritten.

    Attributes:
        targets: the ids of components, the connections as text, the fields whose text a connection replaces, or the
            paths of files.
        done: the lines of the same call that were carried out already, because they need no approval.
    """

    kind: Literal["removal"] = "removal"
    targets: list[str] = Field(default_factory=list[str])
    done: list[str] = Field(default_factory=list[str])


class OutboundApproval(_Consent):
    """Asks whether something may be sent to hosts that the user did not name.

    Attributes:
        hosts: their names.
    """

    kind: Literal["outbound"] = "outbound"
    hosts: list[str] = Field(default_factory=list[str])


class SecretApproval(_Consent):
    """Asks whether a secret may be kept as a variable, used by a run, or replaced.

    Attributes:
        variable: the name of the variable, or `component.field` of what is replaced; never its value.
        use: whether the key of a message may be kept as that variable, a run may use it, or an edit may replace it.
    """

    kind: Literal["secret"] = "secret"
    variable: str
    use: Literal["keep", "run", "replace"] = "run"


class ToolApproval(_Consent):
    """Asks the client to carry out a call of one of its own tools; its result is the answer.

    Attributes:
        tool_name: the tool.
        arguments: what the model wrote for it.
    """

    kind: Literal["tool"] = "tool"
    tool_name: str
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])

    @classmethod
    def of(cls, tool_name: str, arguments: Mapping[str, Any]) -> "ToolApproval":
        """The question of a call."""
        return cls(title=f"The assistant calls {tool_name}.", tool_name=tool_name, arguments=dict(arguments))


Consent: TypeAlias = InstallApproval | RemovalApproval | OutboundApproval | SecretApproval
"""The kinds that clients of Langflow's own assistant do not know: `result` asks them in words."""

Approval: TypeAlias = Annotated[PlanApproval | EditApproval | Consent | ToolApproval, Field(discriminator="kind")]
"""A typed question, stored under the id of the tool call that waits for the answer."""

_ADAPTER: TypeAdapter[Approval] = TypeAdapter(Approval)
_KEY = "approval"
_HELD = "held"
_NOTE = "note"
_REST = "rest"
_REST_ARGUMENTS: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])
_TEXT_TYPES = frozenset({"str", "prompt", "mustache", "code", "query"})


def approval_metadata(approval: PlanApproval | EditApproval | Consent) -> dict[str, Any]:
    """The metadata of a tool call that is suspended until this is decided."""
    return {_KEY: approval.model_dump(mode="json")}


def held_metadata() -> dict[str, Any]:
    """The metadata of a tool call that waits only because an earlier one of the same answer waits for an approval."""
    return {_HELD: True}


def is_held(metadata: dict[str, Any] | None) -> bool:
    """Whether a suspended tool call waits only for an earlier one."""
    return metadata is not None and metadata.get(_HELD) is True


def note_metadata(note: str) -> dict[str, Any]:
    """The metadata of an answered tool call whose result should tell the model something first."""
    return {_NOTE: note}


def read_note(metadata: dict[str, Any] | None) -> str:
    """What the result of an answered tool call should tell the model first; empty if nothing."""
    note = None if metadata is None else metadata.get(_NOTE)
    return note if isinstance(note, str) else ""


def read_approval(metadata: dict[str, Any]) -> Approval:
    """Read the approval from the metadata of a suspended tool call.

    Raises:
        pydantic.ValidationError: the metadata holds no approval.
    """
    return _ADAPTER.validate_python(metadata.get(_KEY))


def approval_text(approval: Approval) -> str:
    """What an approval asks, in the assistant's words."""
    match approval.kind:
        case "plan":
            return approval.markdown
        case "edit":
            changes = [f"{edit.node}.{edit.field}: {edit.old!r} -> {edit.new!r}" for edit in approval.edits]
            return "\n".join(filter(None, (f"{'; '.join(changes)} {approval.reason}".rstrip(), _along(approval))))
        case "tool":
            return f"{approval.tool_name}({json.dumps(approval.arguments, ensure_ascii=False, default=str)})"
        case _:
            why = WHY.get(approval.why, "")
            return "\n".join(filter(None, (approval.title, approval.detail, _along(approval), why)))


def _along(approval: EditApproval | Consent) -> str:
    return f"Along with it: {'; '.join(approval.along)}" if approval.along else ""


WHY: Mapping[str, str] = {
    NOT_ASKED: "It is asked because your message does not ask for it.",
    UNNAMED_HOST: "It is asked because your message does not name this host, and text that you did not type was read.",
}
"""Why something is asked, in words."""


def rest_metadata(arguments: Mapping[str, str]) -> dict[str, Any]:
    """The metadata of a suspended tool call that is continued with other arguments: what of it is left to do."""
    return {_REST: dict(arguments)}


def read_rest(metadata: dict[str, Any] | None) -> dict[str, str]:
    """The arguments with which a suspended call is continued; empty for its own."""
    rest = None if metadata is None else metadata.get(_REST)
    return dict(_REST_ARGUMENTS.validate_python(rest)) if rest else {}


def is_free_text(field: JsonObject) -> bool:
    """Whether a field holds text that someone wrote: not empty, not an option of a list, not a secret.

    Args:
        field: the field's definition, including its value.
    """
    value = field.get("value")
    if not isinstance(value, str) or not value.strip() or field.get("options") or is_secret(field):
        return False
    return (field.get("type") or "str") in _TEXT_TYPES
