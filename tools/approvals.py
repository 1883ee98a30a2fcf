"""Approvals: the questions that suspend a turn until the user has answered them, each about one tool call."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from flows.fields.secrets import is_secret
from flows.json_values import JsonObject
from tools.json_schema import ConfigureJson


class PlanApproval(BaseModel):
    """May this plan be carried out?

    Attributes:
        markdown: the plan, for the user to read.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["plan"] = "plan"
    markdown: str


class EditApproval(BaseModel):
    """May this text of the user's be replaced?

    Attributes:
        edit: the change; its `old` is the text as it stands.
        reason: why, in the assistant's words.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["edit"] = "edit"
    edit: ConfigureJson
    reason: str = ""


Approval: TypeAlias = Annotated[PlanApproval | EditApproval, Field(discriminator="kind")]
"""A typed question, keyed elsewhere by the id of the tool call that waits for its answer."""

_ADAPTER: TypeAdapter[Approval] = TypeAdapter(Approval)
_KEY = "approval"
_TEXTS = frozenset({"str", "prompt", "mustache", "code", "query"})


def asking(approval: PlanApproval | EditApproval) -> dict[str, Any]:
    """The metadata of a suspended tool call that asks this."""
    return {_KEY: approval.model_dump(mode="json")}


def asked(metadata: dict[str, Any]) -> Approval:
    """What a suspended tool call asks, from its metadata.

    Raises:
        pydantic.ValidationError: the call does not wait for the user.
    """
    return _ADAPTER.validate_python(metadata.get(_KEY))


def is_free_text(field: JsonObject) -> bool:
    """Whether a field holds a text that someone wrote: not empty, not chosen from a list, not a secret.

    Args:
        field: the field's definition with its value.
    """
    value = field.get("value")
    if not isinstance(value, str) or not value.strip() or field.get("options") or is_secret(field):
        return False
    return (field.get("type") or "str") in _TEXTS
