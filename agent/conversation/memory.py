"""The memory of conversations: the last turns, pending approvals, and the changes that can be undone."""

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
from tools.mandate import Mandate
from tools.workbench import MAX_ATTEMPTS

TURNS = 10
"""How many turns of a conversation are kept."""

SESSIONS = 100
"""How many conversations are kept; the least recently used is dropped first."""


class Exchange(BaseModel):
    """One turn as it is remembered.

    Attributes:
        user: the message.
        assistant: the answer; empty if there was none.
        messages: the messages between the agent and its tools.
    """

    model_config = ConfigDict(frozen=True)

    user: str
    assistant: str
    messages: list[ModelMessage] = Field(default_factory=list[ModelMessage])


class Pending(BaseModel):
    """A turn that is suspended until the user has answered its approvals.

    Attributes:
        text: the message.
        english: its translation, if it is not English.
        language: the language to answer in.
        intent: its intent, which decides the tools after it is resumed.
        mandate: the effects that it asks for.
        model: the requested model.
        apply: whether texts are replaced without an approval.
        max_attempts: how many attempts the turn has to pass the checks.
        messages: the messages so far; the last holds the suspended tool calls.
        approvals: the approvals, by tool call id.
        answers: the answers so far.
        canvas: the canvas when the turn was suspended.
        proposal: a proposed flow that is not settled yet.
        caveats: what could not be verified.
        tainted: whether the model had read text that the user did not write.
    """

    text: str
    english: str = ""
    language: str | None = None
    intent: Intent
    mandate: Mandate = Mandate()
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
    def unanswered(self) -> dict[str, Approval]:
        """The approvals without an answer."""
        return {call: approval for call, approval in self.approvals.items() if call not in self.answers}

    @property
    def plan(self) -> str | None:
        """The plan that is still unanswered, if there is one."""
        return next((approval.markdown for approval in self.unanswered.values() if approval.kind == "plan"), None)


class ConversationState(BaseModel):
    """One conversation.

    Attributes:
        turns: the last turns, oldest first.
        turn_count: how many turns there have been, including forgotten ones.
        pending: the suspended turn.
        dismissed_plan: the last denied plan, until it has been quoted with the next message.
        undoable: the changes made by the last turn that changed the canvas, in order.
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
    """Stores conversations by user and session; an unknown conversation is empty."""

    async def load(self, user: str, session: str) -> ConversationState:
        """Load a conversation, to be changed and saved."""
        ...

    async def save(self, user: str, session: str, state: ConversationState) -> int:
        """Save a conversation; returns how many are stored."""
        ...

    async def forget(self, user: str, session: str) -> None:
        """Delete a conversation if it exists."""
        ...


class ProcessMemory:
    """Conversations in the memory of this process, as JSON.

    Args:
        sessions: how many are kept.
    """

    def __init__(self, sessions: int = SESSIONS) -> None:
        self._sessions = sessions
        self._documents: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def load(self, user: str, session: str) -> ConversationState:
        """Load a conversation, which counts as a use of it."""
        document = self._documents.get((user, session))
        if document is None:
            return ConversationState()
        self._documents.move_to_end((user, session))
        return ConversationState.model_validate_json(document)

    async def save(self, user: str, session: str, state: ConversationState) -> int:
        """Save a conversation, dropping the least recently used one beyond the limit."""
        self._documents[user, session] = state.model_dump_json()
        self._documents.move_to_end((user, session))
        while len(self._documents) > self._sessions:
            (_, evicted), _ = self._documents.popitem(last=False)
            log_event(
                "assistant.conversation_buffer.session_evicted",
                evicted_session_id=evicted,
                current_session_count=len(self._documents),
            )
        return len(self._documents)

    async def forget(self, user: str, session: str) -> None:
        """Delete a conversation."""
        self._documents.pop((user, session), None)
