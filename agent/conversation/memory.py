"""What is remembered of conversations: the last turns, what waits for an answer, and what can be undone."""

from collections import OrderedDict
from typing import Literal, Protocol

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic_ai import ModelMessage

from agent.turn.request import Answer
from agent.turn.result import Intent
from flows.actions import FlowAction
from runtime.telemetry import log_event
from tools.approvals import Approval
from tools.json_types import ActionJson, FlowJson
from tools.workbench import MAX_ATTEMPTS

TURNS = 10
"""Turns that are kept of a conversation."""

SESSIONS = 100
"""Conversations that are kept; the one unused for longest goes first."""


class Exchange(BaseModel):
    """One turn as it is remembered.

    Attributes:
        user: the message.
        assistant: the answer; empty when the turn did not come to one.
        messages: what the agent and its tools said to each other.
    """

    model_config = ConfigDict(frozen=True)

    user: str
    assistant: str
    messages: list[ModelMessage] = Field(default_factory=list[ModelMessage])


class Pending(BaseModel):
    """A turn that waits for the user.

    Attributes:
        text: the message that began it.
        english: its translation, when it is not English.
        language: the language to answer in.
        intent: what it was taken for, which decides the tools of its second half.
        model: the model that was asked for.
        apply: whether texts are changed without asking.
        max_attempts: how many attempts it has to pass the checks.
        messages: what was said so far, with the tool calls that wait at its end.
        approvals: what is asked, by tool call id.
        answers: what was answered so far.
        canvas: the canvas when the turn stopped.
        proposal: a flow that was put forward and not settled.
        caveats: what could not be verified.
        tainted: whether the model had read text that is not the user's own.
    """

    text: str
    english: str = ""
    language: str | None = None
    intent: Intent
    model: str | None = None
    apply: Literal["ask", "always"] = "ask"
    max_attempts: int = MAX_ATTEMPTS
    messages: list[ModelMessage]
    approvals: dict[str, Approval]
    answers: dict[str, Answer] = Field(default_factory=dict[str, Answer])
    canvas: FlowJson
    proposal: FlowJson | None = None
    caveats: list[str] = Field(default_factory=list[str])
    tainted: bool = Field(default=False, validation_alias=AliasChoices("tainted", "wary"))  # as version 0.1 wrote it

    @property
    def left(self) -> dict[str, Approval]:
        """What still waits for an answer."""
        return {call: approval for call, approval in self.approvals.items() if call not in self.answers}

    @property
    def plan(self) -> str | None:
        """The plan that waits for an answer, if one does."""
        return next((approval.markdown for approval in self.left.values() if approval.kind == "plan"), None)


class ConversationState(BaseModel):
    """One conversation.

    Attributes:
        turns: the last turns, oldest first.
        turn_count: how many turns there have been, those forgotten included.
        pending: the turn that waits for the user.
        dismissed_plan: the last plan that was turned down, until the next message has quoted it.
        undoable: what the last turn that changed the canvas did to it, in order.
    """

    turns: list[Exchange] = Field(default_factory=list[Exchange])
    turn_count: int = 0
    pending: Pending | None = None
    dismissed_plan: str | None = None
    undoable: list[ActionJson] = Field(default_factory=list[FlowAction])

    def record(self, exchange: Exchange) -> None:
        """Remember a turn, forgetting the oldest beyond `TURNS`."""
        self.turns = [*self.turns, exchange][-TURNS:]


class Memory(Protocol):
    """Where conversations are kept, by user and session; what is not there is an empty conversation."""

    async def load(self, user: str, session: str) -> ConversationState:
        """A conversation, to be changed and saved."""
        ...

    async def save(self, user: str, session: str, kept: ConversationState) -> int:
        """Keep a conversation in its present state; returns how many are kept."""
        ...

    async def forget(self, user: str, session: str) -> None:
        """Drop a conversation; one that is not there is no fault."""
        ...


class ProcessMemory:
    """Conversations in this process, as JSON, gone with it.

    Args:
        sessions: how many are kept.
    """

    def __init__(self, sessions: int = SESSIONS) -> None:
        self._sessions = sessions
        self._kept: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def load(self, user: str, session: str) -> ConversationState:
        """A conversation; having been asked for counts as use."""
        written = self._kept.get((user, session))
        if written is None:
            return ConversationState()
        self._kept.move_to_end((user, session))
        return ConversationState.model_validate_json(written)

    async def save(self, user: str, session: str, kept: ConversationState) -> int:
        """Keep a conversation, dropping the one unused for longest beyond the limit."""
        self._kept[user, session] = kept.model_dump_json()
        self._kept.move_to_end((user, session))
        while len(self._kept) > self._sessions:
            (_, evicted), _ = self._kept.popitem(last=False)
            log_event(
                "assistant.conversation_buffer.session_evicted",
                evicted_session_id=evicted,
                current_session_count=len(self._kept),
            )
        return len(self._kept)

    async def forget(self, user: str, session: str) -> None:
        """Drop a conversation."""
        self._kept.pop((user, session), None)
