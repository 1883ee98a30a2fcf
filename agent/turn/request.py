"""What a user asks in one turn."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai import ToolApproved, ToolDenied

from runtime.files.folders import LOCAL_USER
from tools.json_types import FlowJson
from tools.workbench import MAX_ATTEMPTS

Answer: TypeAlias = Annotated[ToolApproved | ToolDenied, Field(discriminator="kind")]
"""The user's decision about one approval."""


class TurnRequest(BaseModel):
    """What a user asks in one turn.

    Attributes:
        text: the message.
        session: the conversation it belongs to.
        user: who asks.
        flow: the canvas; None is an empty one.
        model: `provider:name` or `demo`; None takes the configured default.
        answers: the user's decisions about pending approvals, by tool call id. With answers alone the text may be
            empty; with a text of its own, everything still unanswered is denied.
        apply: whether changes of the user's own texts `ask` first or are `always` applied.
        components: component types of the flow's own, as source code.
        max_attempts: how many attempts the assistant has to build a flow, or to make a component, that passes its
            checks, the first one included. None: the number of the request that is being answered, or the most.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    session: str = "default"
    user: str = LOCAL_USER
    flow: FlowJson | None = None
    model: str | None = None
    answers: dict[str, Answer] = Field(default_factory=dict[str, Answer])
    apply: Literal["ask", "always"] = "ask"
    components: tuple[str, ...] = ()
    max_attempts: int | None = Field(default=None, ge=1, le=MAX_ATTEMPTS)
