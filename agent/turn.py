"""A turn's request and result: what callers give, and the one value that a finished turn leaves behind."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_ai import AgentStreamEvent, CustomEvent, ModelMessage
from pydantic_ai.usage import RunUsage
from pydantic_core import CoreSchema, core_schema

from flows.actions import FlowAction
from flows.actions_json import action_from_json, action_to_json
from flows.document import Flow
from flows.faults import Fault
from runtime.results import RunResult

Intent: TypeAlias = Literal["question", "action", "off_topic"]
Outcome: TypeAlias = Literal["complete", "refused", "error", "cancelled"]


class _JsonForm:
    """Lets pydantic read and write a value by its own JSON form, without looking inside its class.

    Args:
        read: makes the value from its JSON, or passes it through.
        write: gives its JSON.
    """

    def __init__(self, read: Callable[[Any], Any], write: Callable[[Any], Any]) -> None:
        self._read = read
        self._write = write

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(self._write)
        return core_schema.no_info_plain_validator_function(self._read, serialization=written)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "object"}


def _as_flow(value: Any) -> Flow:
    return value if isinstance(value, Flow) else Flow.from_json(value)


def _as_action(value: Any) -> FlowAction:
    return action_from_json(value) if isinstance(value, dict) else value  # pyright: ignore[reportUnknownArgumentType]


def _as_run(value: Any) -> RunResult:
    return value if isinstance(value, RunResult) else RunResult.from_json(value)


def _as_fault(value: Any) -> Fault:
    return value if isinstance(value, Fault) else Fault(**value)


FlowJson = Annotated[Flow, _JsonForm(_as_flow, Flow.to_json)]
ActionJson = Annotated[FlowAction, _JsonForm(_as_action, action_to_json)]
RunJson = Annotated[RunResult, _JsonForm(_as_run, RunResult.to_json)]
FaultJson = Annotated[Fault, _JsonForm(_as_fault, Fault.to_json)]


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
        usage: tokens and requests by phase (`intent`, `main`, `flow`: the models of the flows that were run).
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
