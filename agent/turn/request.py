"""The request for a turn."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai import ToolApproved, ToolDenied

from agent.language.keys import without_keys
from flows.document import Flow
from runtime.files.folders import LOCAL_USER
from runtime.sessions.keys import flow_key
from tools.json_types import FlowJson
from tools.workbench import MAX_ATTEMPTS

Answer: TypeAlias = Annotated[ToolApproved | ToolDenied, Field(discriminator="kind")]
"""The user's decision about one approval."""


class TurnRequest(BaseModel):
    """The request for a turn.

    Attributes:
        text: the message.
        session: the conversation's id.
        user: the user's id.
        flow: the canvas; None for an empty one.
        flow_id: the id of the stored flow that the canvas is, whose runs share what they remember; None when it is not
            stored.
        model: `provider:name` or `demo`; None for the configured default.
        answers: the user's decisions about pending approvals, by tool call id. The text may then be empty; a text
            denies all approvals that are still unanswered.
        replying: whether the text was typed as the answer to what waits, so that it is a no with a reason unless the
            classifier reads it otherwise.
        apply: whether plans and replaced texts on the canvas need approval (`ask`) or not (`always`).
        components: the flow's own component types, as source code.
        files: the user's files that the message is about, by their paths inside the user's folder.
        max_attempts: how many attempts the assistant has to build a flow or generate a component that passes its
            checks, including the first. None: the number of the suspended request, or the maximum.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    session: str = "default"
    user: str = LOCAL_USER
    flow: FlowJson | None = None
    flow_id: str | None = None
    model: str | None = None
    answers: dict[str, Answer] = Field(default_factory=dict[str, Answer])
    replying: bool = False
    apply: Literal["ask", "always"] = "ask"
    components: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    max_attempts: int | None = Field(default=None, ge=1, le=MAX_ATTEMPTS)

    @property
    def run_key(self) -> str:
        """What the runs of a turn belong to: its stored flow, the id in its flow, or the conversation."""
        return self.flow_id or flow_key(self.flow or Flow.empty(), f"conversation:{self.session}")


def request_without_keys(request: TurnRequest) -> TurnRequest:
    """The request without the keys that its message or a reason holds, before anything reads or logs it."""
    answers = {
        call: ToolDenied(without_keys(answer.message)) if isinstance(answer, ToolDenied) else answer
        for call, answer in request.answers.items()
    }
    return request.model_copy(update={"text": without_keys(request.text), "answers": answers})
