"""What a turn asks: questions that wait for the user's decision, or for a result of the client's."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from agent.contract.flow_updates import FieldEdit
from agent.contract.model import Received, optional


class PlanQuestion(Received):
    """A plan that waits for the user's decision."""

    id: str
    kind: Literal["plan"] = "plan"
    markdown: str = ""


class EditQuestion(FieldEdit):
    """A change of one field's text that waits for the user's decision; `reason` repeats the description.

    Attributes:
        done: what the same call has done already, because it needs no decision: fields that were set, or lines.
        along: what else the same call does once it is approved, a line each.
        why: why it is asked: `not_asked`; empty for a text, which is always proposed first.
    """

    kind: Literal["edit"] = "edit"
    reason: str = ""
    why: str = ""
    done: list[str] = Field(default_factory=list[str])
    along: list[str] = Field(default_factory=list[str])


class _Consent(Received):
    """What the questions have in common that clients of Langflow's own assistant do not know.

    Attributes:
        id: names it in the next request's `approvals`.
        title: the question in a few words.
        detail: what the user should know before answering.
        why: why it is asked: `not_asked` (the message does not ask for it), `unnamed_host`, or empty.
        along: what else the same call does once it is approved, a line each.
    """

    id: str
    title: str = ""
    detail: str = ""
    why: str = ""
    along: list[str] = Field(default_factory=list[str])


class InstallQuestion(_Consent):
    """Packages of a component bundle wait for the user's consent to be installed; `size_mb` is their download."""

    kind: Literal["install"] = "install"
    bundle: str = ""
    packages: list[str] = Field(default_factory=list[str])
    size_mb: float | None = optional()


class RemovalQuestion(_Consent):
    """Something of the user's waits to be removed or overwritten: components, connections or files.

    Attributes:
        targets: what it is.
        done: what the same call has done already, because it needs no decision.
    """

    kind: Literal["removal"] = "removal"
    targets: list[str] = Field(default_factory=list[str])
    done: list[str] = Field(default_factory=list[str])


class OutboundQuestion(_Consent):
    """Something waits to be sent to hosts that the user did not name."""

    kind: Literal["outbound"] = "outbound"
    hosts: list[str] = Field(default_factory=list[str])


class SecretQuestion(_Consent):
    """A secret waits to be kept as a variable, to be used by a run, or to be replaced; its value is never sent."""

    kind: Literal["secret"] = "secret"
    variable: str = ""
    use: Literal["keep", "run", "replace"] = "run"


class ToolQuestion(_Consent):
    """A call of one of the client's own tools waits for its result, in the next request's `tool_results`.

    Attributes:
        tool_name: the tool.
        arguments: what the model wrote for it.
    """

    kind: Literal["tool"] = "tool"
    tool_name: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])


Question: TypeAlias = Annotated[
    PlanQuestion | EditQuestion | InstallQuestion | RemovalQuestion | OutboundQuestion | SecretQuestion | ToolQuestion,
    Field(discriminator="kind"),
]
"""What waits for the user's decision, or for a result of the client's; a client takes a kind that it does not know for
a title and a detail."""
