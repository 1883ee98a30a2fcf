"""Approvals: questions that a suspended tool call asks the user."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from flows.fields.secrets import is_secret
from flows.json_values import JsonObject
from tools.json_types import ConfigureJson


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
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["edit"] = "edit"
    edit: ConfigureJson
    reason: str = ""


Approval: TypeAlias = Annotated[PlanApproval | EditApproval, Field(discriminator="kind")]
"""A typed question, stored under the id of the tool call that waits for the answer."""

_ADAPTER: TypeAdapter[Approval] = TypeAdapter(Approval)
_KEY = "approval"
_TEXT_TYPES = frozenset({"str", "prompt", "mustache", "code", "query"})


def approval_metadata(approval: PlanApproval | EditApproval) -> dict[str, Any]:
    """The metadata of a tool call that is suspended until this is decided."""
    return {_KEY: approval.model_dump(mode="json")}


def read_approval(metadata: dict[str, Any]) -> Approval:
    """Read the approval from the metadata of a suspended tool call.

    Raises:
        pydantic.ValidationError: the metadata holds no approval.
    """
    return _ADAPTER.validate_python(metadata.get(_KEY))


def is_free_text(field: JsonObject) -> bool:
    """Whether a field holds text that someone wrote: not empty, not an option of a list, not a secret.

    Args:
        field: the field's definition, including its value.
    """
    value = field.get("value")
    if not isinstance(value, str) or not value.strip() or field.get("options") or is_secret(field):
        return False
    return (field.get("type") or "str") in _TEXT_TYPES
