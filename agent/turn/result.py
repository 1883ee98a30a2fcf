"""The result of a turn, carried by the last of its events."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai import AgentStreamEvent, CustomEvent, ModelMessage
from pydantic_ai.usage import RunUsage

from agent.conversation.message_list import MessageList
from agent.turn.record import TurnRecord
from flows.actions import FlowAction
from flows.document import Flow
from flows.faults import Fault
from runtime.results import RunResult
from tools.approvals import Approval
from tools.events import FileChange, NewComponent
from tools.json_types import ActionJson, FaultJson, FlowJson, RunJson

Intent: TypeAlias = Literal[
    "generate_component", "build_flow", "component_then_flow", "run_flow", "manage_files", "question", "off_topic"
]
Outcome: TypeAlias = Literal["complete", "pending", "refused", "error", "cancelled"]


class TurnError(BaseModel):
    """Why a turn failed, in words for the user, never an exception's own text.

    Attributes:
        code: a stable code for the kind of failure.
        message: what happened.
        fix: what the user can do.
    """

    model_config = ConfigDict(frozen=True)

    code: str
    message: str
    fix: str = ""


class TurnResult(BaseModel):
    """The result of a turn; it survives a JSON round trip.

    Attributes:
        outcome: how the turn ended.
        intent: the message's intent.
        text: the answer.
        language: the code of the language that it is in, as far as the assistant itself wrote it.
        before: the canvas at the start.
        after: the canvas at the end.
        proposal: a whole flow that the user may accept.
        proposal_id: the id by which the user may answer it, now or in a later turn.
        actions: every change from `before` to `after`, in order.
        runs: the user's runs, in order.
        faults: the faults of the resulting or proposed flow.
        caveats: what could not be verified.
        approvals: the pending approvals, by tool call id; present when `outcome` is `pending`.
        withdrawn: the approvals that waited before this turn and that its message left unanswered, by tool call id.
        deferred: whether the request asks for steps beyond the pending ones.
        files: the changes to the user's files, in order.
        components: the component types created, in order.
        usage: tokens and requests by phase (`intent`, `main`, `flow`: the models of the flows that were run).
        seconds: wall-clock duration.
        models: the models that answered, in order, each once.
        messages: the agent's messages.
        error: present when `outcome` is `error`.
        record: what was done, made by code; `text` is what the model says about it.
    """

    outcome: Outcome
    intent: Intent
    text: str
    language: str = "en"
    before: FlowJson
    after: FlowJson
    proposal: FlowJson | None = None
    proposal_id: str | None = None
    actions: list[ActionJson] = Field(default_factory=list[FlowAction])
    runs: list[RunJson] = Field(default_factory=list[RunResult])
    faults: list[FaultJson] = Field(default_factory=list[Fault])
    caveats: list[str] = Field(default_factory=list[str])
    approvals: dict[str, Approval] = Field(default_factory=dict[str, Approval])
    withdrawn: dict[str, Approval] = Field(default_factory=dict[str, Approval])
    deferred: bool = False
    files: list[FileChange] = Field(default_factory=list[FileChange])
    components: list[NewComponent] = Field(default_factory=list[NewComponent])
    usage: dict[str, RunUsage] = Field(default_factory=dict[str, RunUsage])
    seconds: float
    models: list[str] = Field(default_factory=list[str])
    messages: MessageList = Field(default_factory=list[ModelMessage])
    error: TurnError | None = None
    record: TurnRecord = Field(default_factory=TurnRecord)

    @property
    def flow(self) -> Flow:
        """The proposed flow if there is one, else the canvas at the end."""
        return self.after if self.proposal is None else self.proposal


@dataclass(kw_only=True)
class TurnEnded(CustomEvent, name="turn_ended"):
    """The last event of every turn that was not cancelled."""

    result: TurnResult


TurnEvent: TypeAlias = AgentStreamEvent
"""PydanticAI's events, including our custom ones (`Progress`, `FlowUpdate`, …); the last is a `TurnEnded`."""
