"""The request for a turn."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic_ai import ToolApproved, ToolDenied

from agent.toolsets.client import CLIENT_TOOLS, ClientContext, ClientTool
from flows.document import Flow
from flows.fields.keys import FoundKey, find_keys, json_without_keys, without_keys
from flows.json_values import as_object
from runtime.accounts.scopes import SCOPES, Scope
from runtime.files.folders import LOCAL_USER
from runtime.sessions.keys import flow_key
from tools.json_types import FlowJson
from tools.workbench import MAX_ATTEMPTS

_BEYOND = 4_096
"""Characters beyond the limit of a message that are searched, so that a key at its end is removed whole."""


class ToolAnswered(BaseModel):
    """What came of a call of one of the client's tools.

    Attributes:
        content: its result.
    """

    model_config = ConfigDict(frozen=True)

    content: JsonValue
    kind: Literal["tool-answered"] = "tool-answered"


Answer: TypeAlias = Annotated[ToolApproved | ToolDenied | ToolAnswered, Field(discriminator="kind")]
"""The user's decision about one approval, or the client's result of one call."""


class TurnRequest(BaseModel):
    """The request for a turn.

    Attributes:
        text: the message.
        session: the conversation's id.
        turn_id: the turn's own id; empty for a new one.
        user: the user's id.
        scopes: what the user may do: a turn runs flows with `run` only, and installs bundles with `admin` only.
        flow: the canvas; None for an empty one.
        flow_id: the id of the stored flow that the canvas is, whose runs share what they remember; None when it is not
            stored.
        model: `provider:name` or `demo`; None for the configured default.
        answers: the user's decisions about pending approvals, and the client's results of calls of its tools, by tool
            call id. The text may then be empty; a text denies all that is still unanswered.
        tools: the tools that the client carries out.
        context: what the client's application shows to the assistant.
        replying: whether the text was typed as the answer to what waits, so that it is a no with a reason unless the
            classifier reads it otherwise.
        keep_canvas: whether the conversation keeps the canvas as the turn leaves it, for `Assistant.kept_canvas`.
        dismiss: whether the text is no answer to what waits, which is given up.
        apply: whether plans and replaced texts on the canvas need approval (`ask`) or not (`always`).
        components: the flow's own component types, as source code.
        files: the user's files that the message is about, by their paths inside the user's folder.
        max_attempts: how many attempts the assistant has to build a flow or generate a component that passes its
            checks, including the first. None: the number of the suspended request, or the maximum.
        token_limit: how many tokens the turn may use; None for what the settings say.
        held_keys: whether keys were removed from the text or the answers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    session: str = "default"
    turn_id: str = ""
    user: str = LOCAL_USER
    scopes: tuple[Scope, ...] = SCOPES
    flow: FlowJson | None = None
    flow_id: str | None = None
    model: str | None = None
    answers: dict[str, Answer] = Field(default_factory=dict[str, Answer])
    context: tuple[ClientContext, ...] = Field(default=(), max_length=CLIENT_TOOLS)
    tools: tuple[ClientTool, ...] = Field(default=(), max_length=CLIENT_TOOLS)
    replying: bool = False
    keep_canvas: bool = False
    dismiss: bool = False
    apply: Literal["ask", "always"] = "ask"
    components: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    max_attempts: int | None = Field(default=None, ge=1, le=MAX_ATTEMPTS)
    token_limit: int | None = Field(default=None, ge=0)
    held_keys: bool = Field(default=False, exclude=True, repr=False)

    @property
    def run_key(self) -> str:
        """What the runs of a turn belong to: its stored flow, the id in its flow, or the conversation."""
        return self.flow_id or flow_key(self.flow or Flow.empty(), f"conversation:{self.session}")


def request_without_keys(request: TurnRequest, limit: int) -> tuple[TurnRequest, list[FoundKey]]:
    """The request without the keys in its message and its answers, before anything reads or logs it; and the message's.

    Args:
        request: what the user sent.
        limit: how many characters of the message are read.
    """
    text = request.text[: limit + _BEYOND]
    keys = find_keys(text)
    answers = {call: _answer_without_keys(answer) for call, answer in request.answers.items()}
    held = bool(keys) or answers != request.answers
    changed = {"text": without_keys(text), "answers": answers, "held_keys": held}
    return (request.model_copy(update=changed), keys) if held else (request, keys)


def _answer_without_keys(answer: Answer) -> Answer:
    if isinstance(answer, ToolDenied):
        return ToolDenied(without_keys(answer.message))
    if isinstance(answer, ToolAnswered):
        return ToolAnswered(content=json_without_keys(answer.content))
    if answer.override_args is None:
        return answer
    return ToolApproved(override_args=as_object(json_without_keys(answer.override_args)))
