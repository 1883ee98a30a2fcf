"""A turn's request and result: what callers give, and the one value that a finished turn leaves behind."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_ai import AgentStreamEvent, CustomEvent, ModelMessage
from pydantic_ai.usage import RunUsage

from flows.actions import FlowAction, action_from_json, action_to_json
from flows.document import Flow
from flows.faults import Fault
from runtime.results import RunResult, run_result_from_json

Intent: TypeAlias = Literal["question", "action", "off_topic"]
Outcome: TypeAlias = Literal["complete", "refused", "error", "cancelled"]

_OBJECT = WithJsonSchema({"type": "object"})


def _as_flow(value: Any) -> Flow:
    return value if isinstance(value, Flow) else Flow.from_json(value)


def _as_action(value: Any) -> FlowAction:
    return action_from_json(value) if isinstance(value, dict) else value  # pyright: ignore[reportUnknownArgumentType]


def _as_run(value: Any) -> RunResult:
    return value if isinstance(value, RunResult) else run_result_from_json(value)


def _as_fault(value: Any) -> Fault:
    return value if isinstance(value, Fault) else Fault(**value)


FlowJson = Annotated[Flow, PlainValidator(_as_flow), PlainSerializer(Flow.to_json), _OBJECT]
ActionJson = Annotated[FlowAction, PlainValidator(_as_action), PlainSerializer(action_to_json), _OBJECT]
RunJson = Annotated[RunResult, PlainValidator(_as_run), PlainSerializer(RunResult.to_json), _OBJECT]
FaultJson = Annotated[Fault, PlainValidator(_as_fault), PlainSerializer(Fault.to_json), _OBJECT]


class TurnRequest(BaseModel):
    """What a user asks in one turn.

    Attributes:
        text: the message.
        session: the conversation it belongs to.
        user: who asks.
        flow: the canvas; None is an empty one.
        model: `provider:name` or `demo`; None takes the configured default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    session: str = "default"
    user: str = "local"
    flow: FlowJson | None = None
    model: str | None = None


class TurnError(BaseModel):
    """Why a turn failed, in words for the user: never an exception's own text.

    Attributes:
        code: a stable name of the kind of failure.
        message: what happened.
        fix: what the user can do.
    """

    model_config = ConfigDict(frozen=True)

    code: str
    message: str
    fix: str = ""


class TurnResult(BaseModel):
    """What a turn came to; it survives a JSON round trip.

    Attributes:
        outcome: how the turn ended.
        intent: what the message was taken for.
        text: the answer.
        before: the canvas at the start.
        after: the canvas at the end.
        proposal: a whole flow that waits for the user's acceptance.
        actions: every change from `before` to `after`, in order.
        runs: the user's runs, in order.
        faults: what is still wrong with the resulting or proposed flow.
        caveats: what could not be verified.
        usage: tokens and requests by phase (`intent`, `main`).
        seconds: wall-clock duration.
        models: the models that answered, in order, each once.
        messages: the agent's messages.
        error: present when `outcome` is `error`.
    """

    outcome: Outcome
    intent: Intent
    text: str
    before: FlowJson
    after: FlowJson
    proposal: FlowJson | None = None
    actions: list[ActionJson] = Field(default_factory=list[FlowAction])
    runs: list[RunJson] = Field(default_factory=list[RunResult])
    faults: list[FaultJson] = Field(default_factory=list[Fault])
    caveats: list[str] = Field(default_factory=list[str])
    usage: dict[str, RunUsage] = Field(default_factory=dict[str, RunUsage])
    seconds: float
    models: list[str] = Field(default_factory=list[str])
    messages: list[ModelMessage] = Field(default_factory=list[ModelMessage])
    error: TurnError | None = None

    @property
    def flow(self) -> Flow:
        """The proposed flow when there is one, else the canvas as it is now."""
        return self.after if self.proposal is None else self.proposal


@dataclass(kw_only=True)
class TurnEnded(CustomEvent, name="turn_ended"):
    """The last event of every turn that was not abandoned."""

    result: TurnResult


TurnEvent: TypeAlias = AgentStreamEvent
"""PydanticAI's events, ours among them (`Progress`, `FlowUpdate`, `FlowPreview`), with one `TurnEnded` at the end."""
