"""The memory of conversations: the last turns, pending approvals, and the changes that can be undone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Protocol

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr

from agent.conversation.message_list import MessageList
from agent.conversation.pending.approvals import AskedApproval, Outcome, all_applied, noted
from agent.conversation.proposals import Offers
from agent.conversation.shortened import shortened
from agent.conversation.transcript.parts import NewMessage, TranscriptEntry, TranscriptMessage
from agent.toolsets.client import ClientTool
from agent.turn.record import TurnRecord
from agent.turn.request import Answer
from agent.turn.result import Intent
from flows.document import Flow
from flows.spec.parse import Spec
from tools.approvals import Approval
from tools.json_types import FlowJson
from tools.mandate import Mandate
from tools.undo_stack import UndoStack, stack_of_last_turn
from tools.workbench import MAX_ATTEMPTS

TURNS = 10
"""How many turns of a conversation are quoted to a model."""

BYTES = 4_000_000
"""How large a stored conversation may be, in bytes of JSON."""

TITLE = 60
"""How many characters of its first message a conversation is called by."""

SESSIONS = 100
"""How many conversations a model is quoted from; the least recently used is dropped first, but none that waits."""


class Exchange(BaseModel):
    """One turn as it is remembered.

    Attributes:
        user: the message.
        assistant: the answer; empty if there was none.
        asked: the approvals that it asked for.
        notes: how it ended if it has no answer, and what ran.
        offered: the id of the proposal that it offered, if any.
        language: the code of the message's language; None when it says too little to be in one, as "y" does.
        tainted: whether the model had read text that the user did not write, which the answer may repeat.
    """

    model_config = ConfigDict(frozen=True)

    user: str
    assistant: str
    asked: list[AskedApproval] = Field(default_factory=list[AskedApproval])
    notes: list[str] = Field(default_factory=list[str])
    offered: str | None = None
    language: str | None = None
    tainted: bool = False


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
        calls: the ids of all suspended calls, in order; those without an approval wait for an earlier one.
        consents: what was approved for the suspended calls before, by tool call id.
        rests: the arguments with which calls go on of which a part was done before the question, by tool call id.
        names: ids of the components built or added this turn, by the names that the model gave them.
        draft: the last spec given to `build_flow` before the suspended call, which may be a correction of it.
        record: what was done before.
        answers: the answers so far.
        canvas: the canvas when the turn was suspended.
        proposal: a proposed flow that is not settled yet.
        caveats: what could not be verified.
        proposed: whether that flow was made in this turn, and not offered by an earlier one.
        accepted: whether the user has said yes to it.
        turn: the number of the turn.
        tools: the tools of the client, of which some calls may wait.
        keys: the keys of the message, encrypted, while it waits for whether they are kept; empty otherwise.
        files: the files of that message.
        tainted: whether the model had read text that the user did not write.
        interrupted: whether carrying its answers out was stopped, or failed, before anything was done.
    """

    text: str
    english: str = ""
    language: str | None = None
    intent: Intent
    mandate: Mandate = Mandate()
    model: str | None = None
    apply: Literal["ask", "always"] = "ask"
    max_attempts: int = MAX_ATTEMPTS
    messages: MessageList
    approvals: dict[str, Approval]
    calls: list[str] = Field(default_factory=list[str])
    consents: dict[str, list[Approval]] = Field(default_factory=dict[str, list[Approval]])
    rests: dict[str, dict[str, str]] = Field(default_factory=dict[str, dict[str, str]])
    names: dict[str, str] = Field(default_factory=dict[str, str])
    draft: tuple[Spec, frozenset[int]] | None = None
    record: TurnRecord = Field(default_factory=TurnRecord)
    answers: dict[str, Answer] = Field(default_factory=dict[str, Answer])
    canvas: FlowJson
    proposal: FlowJson | None = None
    proposed: bool = True
    accepted: bool = False
    turn: int = 0
    caveats: list[str] = Field(default_factory=list[str])
    tools: tuple[ClientTool, ...] = ()
    keys: str = Field(default="", repr=False)
    files: tuple[str, ...] = ()
    tainted: bool = Field(default=False, validation_alias=AliasChoices("tainted", "wary"))  # as version 0.1 wrote it
    interrupted: bool = False

    @property
    def unanswered(self) -> dict[str, Approval]:
        """The approvals without an answer."""
        return {call: approval for call, approval in self.approvals.items() if call not in self.answers}

    @property
    def asked(self) -> dict[str, Approval]:
        """The questions without an answer that a person decides: all but calls of the client's tools."""
        return {call: approval for call, approval in self.unanswered.items() if approval.kind != "tool"}

    def accepted_on(self, canvas: Flow | None) -> list[str]:
        """The unanswered edits whose new value already stands on a canvas, because a client has applied them itself.

        Args:
            canvas: the canvas of a request; None when it has none.
        """
        edits = {call: one.edits for call, one in self.unanswered.items() if one.kind == "edit"}
        return [] if canvas is None else [call for call, texts in edits.items() if all_applied(texts, canvas)]

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
        undo_stack: the turns that changed the canvas, to be undone and redone.
        offers: the proposals that were not accepted.
        canvas: the canvas as the last turn left it, if its request asked to keep it.
        foreign_hosts: the hosts in its flows that came from others' text, and that the user has not named.
        approved_hosts: the hosts that the user has approved when asked.
        refused_bundles: the bundles that the user said no to.
        title: the beginning of its first message.
        updated_at: when its last turn ended, ISO 8601 in UTC; empty before there was one.
    """

    turns: list[Exchange] = Field(default_factory=list[Exchange])
    turn_count: int = 0
    pending: Pending | None = None
    dismissed_plan: str | None = None
    undo_stack: Annotated[UndoStack, BeforeValidator(stack_of_last_turn)] = Field(
        default_factory=UndoStack, validation_alias=AliasChoices("undo_stack", "undoable")
    )
    offers: Offers = Field(default_factory=Offers)
    canvas: FlowJson | None = None
    foreign_hosts: frozenset[str] = frozenset()
    approved_hosts: frozenset[str] = frozenset()
    refused_bundles: frozenset[str] = frozenset()
    title: str = ""
    updated_at: str = ""
    _read: str = PrivateAttr(default="")
    """The JSON that it was read from; empty for a new one."""

    @classmethod
    def from_json(cls, document: str) -> ConversationState:
        """Read a conversation that `to_json` wrote, and remember how it was.

        Raises:
            ValidationError: it is none.
        """
        state = cls.model_validate_json(document)
        state._read = document
        return state

    def __eq__(self, other: object) -> bool:
        """Whether both are the same conversation, however they were made."""
        return isinstance(other, ConversationState) and self.__dict__ == other.__dict__

    __hash__ = None  # it can be changed

    @property
    def as_read(self) -> str:
        """The JSON that it was read from, before any change; empty for a new one."""
        return self._read

    def record(self, exchange: Exchange) -> None:
        """Remember a turn, forgetting the oldest beyond `TURNS`."""
        self.title = self.title or title_of(exchange.user)
        self.turns = [*self.turns, exchange][-TURNS:]

    @property
    def waits(self) -> bool:
        """Whether an approval or a proposal waits for the user's answer."""
        return self.pending is not None or self.offers.open is not None

    def note_answers(self, outcomes: Mapping[str, Outcome], reason: str = "") -> None:
        """Note in the history what became of approvals.

        Args:
            outcomes: what became of them, by tool call id.
            reason: the user's words.
        """
        self.turns = [turn.model_copy(update={"asked": noted(turn.asked, outcomes, reason)}) for turn in self.turns]

    def reconcile(self, canvas: Flow) -> None:
        """Notice that a client has accepted the open proposal, so that it can be undone like any change.

        Args:
            canvas: the canvas of a request.
        """
        accepted = self.offers.reconcile(canvas)
        if accepted is not None:
            self.undo_stack.record(*accepted)

    def to_json(self, limit: int = BYTES) -> str:
        """The conversation as JSON; what is farthest back is forgotten until it fits.

        Undo steps but the last go first, then proposals and turns; what waits for an answer stays.

        Args:
            limit: how many bytes it may take.
        """
        document = self.model_dump_json()
        while len(document.encode()) > limit and self._forget_oldest():
            document = self.model_dump_json()
        return document

    def _forget_oldest(self) -> bool:
        if len(self.undo_stack.done) > 1 and self.undo_stack.forget_oldest():
            return True
        if self.offers.forget_oldest() or self.undo_stack.forget_oldest():
            return True
        found, self.turns = bool(self.turns), self.turns[1:]
        return found


def title_of(message: str) -> str:
    """What a conversation that begins with a message is called in lists."""
    return shortened(message, TITLE)


class Transcripts(Protocol):
    """What people read of conversations, by user and session. Every method may raise `AssistantUnavailable`."""

    async def page(
        self, user: str, limit: int, offset: int, text: str = "", flow: str = ""
    ) -> tuple[list[TranscriptEntry], int]:
        """Conversations, last changed first, and how many there are in all.

        Args:
            user: whose they are.
            limit: how many at most.
            offset: how many come before.
            text: what their title or preview contains; empty for all.
            flow: the stored flow that they are about; empty for all.
        """
        ...

    async def entry(self, user: str, session: str) -> TranscriptEntry | None:
        """One conversation, if there is one."""
        ...

    async def messages(self, user: str, session: str, limit: int, offset: int) -> tuple[list[TranscriptMessage], int]:
        """The messages of a conversation, oldest first, and how many there are in all."""
        ...

    async def message(self, user: str, session: str, message: str) -> TranscriptMessage | None:
        """One message, if there is one."""
        ...

    async def retitle(self, user: str, session: str, title: str) -> bool:
        """Give a conversation another title; returns whether there is one."""
        ...

    async def rewind(self, user: str, session: str, message: str) -> int:
        """Delete a message and those after it, and put the conversation back to how it was before them.

        No turn of it may run meanwhile.

        Returns:
            How many messages were deleted.
        """
        ...


class Memory(Protocol):
    """Stores conversations by user and session; an unknown conversation is empty."""

    async def load(self, user: str, session: str) -> ConversationState:
        """Load a conversation, to be changed and saved."""
        ...

    async def save(self, user: str, session: str, state: ConversationState, message: NewMessage | None = None) -> int:
        """Save a conversation, and with it what is added to its transcript; returns how many are stored."""
        ...

    async def forget(self, user: str, session: str) -> None:
        """Delete a conversation and its transcript, if it exists."""
        ...

    @property
    def transcripts(self) -> Transcripts:
        """What people read of the conversations."""
        ...
