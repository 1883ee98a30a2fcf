"""What a client of the HTTP API sends."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue, field_validator
from pydantic_ai import ToolApproved, ToolDenied

from agent.contract.model import ContractModel
from agent.toolsets.client import CLIENT_TOOLS, ClientContext, ClientTool
from agent.turn.request import Answer, ToolAnswered, TurnRequest
from runtime.egress.hosts import read_hosts
from tools.json_types import FlowObject
from tools.workbench import MAX_ATTEMPTS

STREAM_PATH = "/api/v1/agentic/assist/stream"
"""The path of a turn as a stream."""

AGENT_HEADER = "Wirewright-Agent"
"""The header of a stream that names the agent and its version: `wirewright/0.2.0`."""

TURN_HEADER = "Wirewright-Turn"
"""The header of a response that names the turn."""

TURN_ID = r"^[A-Za-z0-9_-]{1,64}$"
"""What the id of a turn looks like."""


class Decision(ContractModel):
    """The user's decision about one approval.

    Attributes:
        decision: whether the call may go ahead.
        reason: why not, for the assistant.
        args: arguments of the call that the user changed; of a proposal, `replace` puts it in place of what is on the
            canvas.
    """

    decision: Literal["approve", "deny"]
    reason: str | None = Field(default=None, max_length=4_000)
    args: dict[str, JsonValue] | None = None

    @classmethod
    def of(cls, answer: ToolApproved | ToolDenied) -> Decision:
        """The decision that carries an answer."""
        if isinstance(answer, ToolApproved):
            return cls(decision="approve", args=answer.override_args)
        return cls(decision="deny", reason=answer.message)

    def answer(self) -> ToolApproved | ToolDenied:
        """The answer for the assistant."""
        if self.decision == "approve":
            return ToolApproved(override_args=self.args or None)
        return ToolDenied(self.reason) if self.reason else ToolDenied()


class AssistRequest(ContractModel):
    r"""Asks for a turn.

    Attributes:
        input_value: the user's message; required unless `approvals` or `tool_results` are sent.
        flow_id: the stored flow that the turn works on.
        flow: the canvas itself, as Langflow JSON, instead of a stored flow; nothing is stored.
        provider: a provider listed by `check-config`, or `demo`.
        model_name: one model of that provider, or of the default one.
        max_retries: how many attempts the assistant has to build something that passes its checks, the first one
            included, from 1 to 3; other numbers are taken as the nearest of these. When missing, 3, or for answers
            the number of the request that they answer.
        session_id: the conversation; a new one when missing.
        approvals: decisions about what waits in the conversation, by id.
        tools: tools of the client that the assistant may call; a call suspends the turn with a question of kind `tool`.
        context: what the client's application shows to the assistant, which reads it as data.
        tool_results: what came of such calls, by the id of the question.
        files: the user's files that the message is about, by their paths under `/api/v1/files`.
        apply: whether plans and replaced texts on the canvas need approval \(`ask`\) or not \(`always`\).
        keep_canvas: whether the conversation keeps the canvas as the turn leaves it, and a turn without a flow begins
            with the one that it keeps.
        dismiss: whether the message is no answer to what waits in the conversation, which is given up.
        turn_id: a name for the turn that the client chooses, new for each turn; one is made when missing.
        resumable: whether the turn goes on for a while when its client is gone, so that it can be followed again.
        details: whether the stream also says how the turn started, what the model thinks, and each tool's call and
            result.
    """

    input_value: str = ""
    flow_id: str | None = None
    flow: FlowObject | None = None
    provider: str | None = Field(default=None, max_length=200)
    model_name: str | None = Field(default=None, max_length=200)
    max_retries: int | None = Field(default=None, ge=0, le=100)
    session_id: str | None = Field(default=None, max_length=200)
    approvals: dict[str, Decision] = Field(default_factory=dict[str, Decision], max_length=100)
    tools: list[ClientTool] = Field(default_factory=list[ClientTool], max_length=CLIENT_TOOLS)
    context: list[ClientContext] = Field(default_factory=list[ClientContext], max_length=CLIENT_TOOLS)
    tool_results: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue], max_length=100)
    apply: Literal["ask", "always"] = "ask"
    files: list[str] = Field(default_factory=list[str], max_length=20)
    keep_canvas: bool = False
    dismiss: bool = False
    turn_id: str | None = Field(default=None, pattern=TURN_ID)
    resumable: bool = False
    details: bool = False

    @property
    def max_attempts(self) -> int | None:
        """`max_retries` within its limits."""
        return None if self.max_retries is None else min(max(self.max_retries, 1), MAX_ATTEMPTS)

    @property
    def answers(self) -> dict[str, Answer]:
        """The decisions and results, by id."""
        decided: dict[str, Answer] = {call: decision.answer() for call, decision in self.approvals.items()}
        return decided | {call: ToolAnswered(content=content) for call, content in self.tool_results.items()}

    @classmethod
    def of(cls, request: TurnRequest) -> AssistRequest:
        """The request that asks a server for a turn."""
        provider, _, name = (request.model or "").partition(":")
        return cls(
            input_value=request.text,
            session_id=request.session,
            flow=None if request.flow is None else request.flow.raw,
            provider=provider or None,
            model_name=name or None,
            approvals={
                call: Decision.of(answer)
                for call, answer in request.answers.items()
                if not isinstance(answer, ToolAnswered)
            },
            tools=list(request.tools),
            context=list(request.context),
            tool_results={
                call: answer.content for call, answer in request.answers.items() if isinstance(answer, ToolAnswered)
            },
            apply=request.apply,
            keep_canvas=request.keep_canvas,
            dismiss=request.dismiss,
            files=list(request.files),
            max_retries=request.max_attempts,
        )


class ResetRequest(ContractModel):
    """Asks to forget a conversation.

    Attributes:
        session_id: the conversation; without one only the user's components are removed.
        what: `all`; `session` for the conversation alone, whose user keeps every component; or only the `plan` that was
            denied or waits. Components that a stored flow uses are always kept.
    """

    session_id: str | None = Field(default=None, min_length=1, max_length=200)
    what: Literal["all", "session", "plan"] = "all"


class RunRequest(ContractModel):
    """Asks for a run of a stored flow.

    Attributes:
        input_value: the text to type into the chat input; None runs the flow with the values as configured.
        timeout: seconds it may take.
        session_id: the conversation that the flow sees.
        tweaks: values for this run alone, by node id and field name.
        allow_hosts: hosts that this run may reach where the operator has runs ask for hosts: `host` or `host:port`.
        nodes: whether the reply has every node's value, not only those of the outputs.
        stream: whether to answer with server-sent events; so does the header `Accept: text/event-stream`.
        wait: whether to answer when the run has ended; if not, with its id as soon as it has begun.
    """

    input_value: str | None = None
    timeout: float = Field(default=60.0, gt=0, le=600, allow_inf_nan=False)
    session_id: str | None = Field(default=None, max_length=200)
    tweaks: dict[str, dict[str, JsonValue]] = Field(default_factory=dict[str, dict[str, JsonValue]])
    allow_hosts: tuple[str, ...] = Field(default=(), max_length=50)
    nodes: bool = False
    stream: bool = False
    wait: bool = True

    @field_validator("allow_hosts")
    @classmethod
    def _are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        read_hosts(hosts)
        return hosts
