"""The assistant over HTTP, as types: what a client sends and what the stream's last event says."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter
from pydantic_ai import ToolApproved, ToolDenied
from pydantic_ai.usage import RunUsage

from agent.turn.request import Answer, TurnRequest
from agent.turn.result import Intent, TurnError, TurnResult
from flows.actions import Configure
from flows.diff import diff
from flows.document import Flow, Json
from runtime.results import RunResult
from tools.approvals import Approval, EditApproval, PlanApproval
from tools.events import FileChange
from tools.json_schema import FaultJson, FlowJson, RunJson

STREAM_PATH = "/api/v1/agentic/assist/stream"
"""Where a turn is asked for as a stream."""


class SentDecision(BaseModel):
    """What the user says to one approval.

    Attributes:
        decision: whether the call may be done.
        reason: why not, for the assistant.
        args: arguments of the call that the user changed.
    """

    decision: Literal["approve", "deny"]
    reason: str | None = Field(default=None, max_length=4_000)
    args: dict[str, JsonValue] | None = None

    @classmethod
    def of(cls, answer: Answer) -> SentDecision:
        """How an answer is sent."""
        if isinstance(answer, ToolApproved):
            return cls(decision="approve", args=answer.override_args)
        return cls(decision="deny", reason=answer.message)

    def answer(self) -> Answer:
        """The answer for the assistant."""
        if self.decision == "approve":
            return ToolApproved(override_args=self.args or None)
        return ToolDenied(self.reason) if self.reason else ToolDenied()


class SentTurn(BaseModel):
    """What a client sends to ask for a turn; keys beyond these are ignored, as the original does.

    Attributes:
        input_value: the user's message.
        flow_id: the stored flow that the turn works on.
        flow: the canvas itself, instead of a stored flow; nothing is stored.
        provider: who serves the model: a name of `check-config`, or `demo`.
        model_name: one model of that provider, or of the default one.
        max_retries: attempts at validation. The assistant keeps to its own three.
        session_id: the conversation; a new one when it is left out.
        approvals: answers to what waits in the conversation, by id; the message may then be left out.
        apply: whether changes of the user's texts, and plans, `ask` first or are `always` carried out.
    """

    input_value: str = ""
    flow_id: str | None = None
    flow: dict[str, JsonValue] | None = None
    provider: str | None = Field(default=None, max_length=200)
    model_name: str | None = Field(default=None, max_length=200)
    max_retries: int | None = Field(default=None, ge=0, le=100)
    session_id: str | None = Field(default=None, max_length=200)
    approvals: dict[str, SentDecision] = Field(default_factory=dict[str, SentDecision], max_length=100)
    apply: Literal["ask", "always"] = "ask"

    @classmethod
    def of(cls, request: TurnRequest) -> SentTurn:
        """How a request is sent."""
        provider, _, name = (request.model or "").partition(":")
        return cls(
            input_value=request.text,
            session_id=request.session,
            flow=None if request.flow is None else cast("dict[str, JsonValue]", request.flow.to_json()),
            provider=provider or None,
            model_name=name or None,
            approvals={call: SentDecision.of(answer) for call, answer in request.answers.items()},
            apply=request.apply,
        )


class GivenApproval(BaseModel):
    """An approval that a turn waits for: a plan to read, or a change of a field."""

    model_config = ConfigDict(extra="ignore")

    id: str
    kind: Literal["plan", "edit"]
    markdown: str = ""
    component_id: str = ""
    field: str = ""
    old_value: JsonValue = None
    new_value: JsonValue = None
    reason: str = ""

    def approval(self) -> Approval:
        """The same as the assistant has it."""
        if self.kind == "plan":
            return PlanApproval(markdown=self.markdown)
        old, new = cast("Json", self.old_value), cast("Json", self.new_value)
        return EditApproval(edit=Configure(self.component_id, self.field, old, new), reason=self.reason)


class Usage(BaseModel):
    """The tokens of a turn."""

    input_tokens: int = 0
    output_tokens: int = 0


class CompleteData(BaseModel):
    """What a finished turn tells its client, as far as it is needed to know what came of it.

    Attributes:
        result: the answer's text.
        intent: what the message was taken for; a client takes any it does not know for a build.
        flow: the canvas at the end.
        proposal: a flow that waits for the user's acceptance.
        run: the last run of the turn.
        approvals: what waits for an answer.
        usage: the tokens.
        duration_seconds: how long the turn took.
        model: who answered.
    """

    model_config = ConfigDict(extra="ignore")

    result: str = ""
    intent: str = "build_flow"
    flow: FlowJson | None = None
    proposal: FlowJson | None = None
    run: RunJson | None = None
    approvals: list[GivenApproval] = Field(default_factory=list[GivenApproval])
    faults: list[FaultJson] = Field(default_factory=list[Any])
    caveats: list[str] = Field(default_factory=list[str])
    files: list[FileChange] = Field(default_factory=list[FileChange])
    usage: Usage | None = None
    duration_seconds: float = 0.0
    model: str | None = None


class Complete(BaseModel):
    """The last event of a turn that came to an end."""

    event: Literal["complete"]
    data: CompleteData


class Failed(BaseModel):
    """The last event of a turn that failed."""

    event: Literal["error"]
    message: str
    code: str = "error"
    fix: str = ""


class Cancelled(BaseModel):
    """The last event of a turn that was stopped."""

    event: Literal["cancelled"]
    message: str = ""


Ending: TypeAlias = Complete | Failed | Cancelled
ENDINGS = ("complete", "error", "cancelled")
"""The events that end a turn."""


def read_ending(event: dict[str, Any]) -> Ending:
    """The last event of a turn.

    Raises:
        pydantic.ValidationError: when it is no such event.
    """
    return TypeAdapter[Ending](Ending).validate_python(event)


def received(request: TurnRequest, ended: Ending) -> TurnResult:
    """The result of a turn, as far as its last event tells.

    The messages are not told, so they are empty; the actions are the differences between the two canvases.

    Args:
        request: what was asked.
        ended: the last event.
    """
    before = request.flow or Flow.empty()
    if isinstance(ended, Failed):
        error = TurnError(code=ended.code, message=ended.message, fix=ended.fix)
        return TurnResult(
            outcome="error", intent="build_flow", text="", before=before, after=before, seconds=0.0, error=error
        )
    if isinstance(ended, Cancelled):
        return TurnResult(
            outcome="cancelled", intent="build_flow", text=ended.message, before=before, after=before, seconds=0.0
        )
    data = ended.data
    after = data.flow or before
    intent = TypeAdapter[Intent](Intent).validate_python(data.intent) if data.intent in _INTENTS else "build_flow"
    runs: list[RunResult] = [] if data.run is None else [data.run]
    spent = data.usage and RunUsage(input_tokens=data.usage.input_tokens, output_tokens=data.usage.output_tokens)
    return TurnResult(
        outcome="pending" if data.approvals else "refused" if intent == "off_topic" else "complete",
        intent=intent,
        text=data.result,
        before=before,
        after=after,
        proposal=data.proposal,
        actions=list(diff(before, after)),
        runs=runs,
        faults=data.faults,
        caveats=data.caveats,
        approvals={given.id: given.approval() for given in data.approvals},
        files=data.files,
        usage={} if spent is None else {"main": spent},
        seconds=data.duration_seconds,
        models=[] if data.model is None else [data.model],
    )


_INTENTS = frozenset(get_args(Intent))
