"""What the routes of conversations take and give, as models."""

from __future__ import annotations

from pydantic import Field, field_validator

from agent.contract.events import Question
from agent.contract.model import ContractModel, Page, Received
from agent.conversation.transcript.parts import TranscriptEntry, TranscriptMessage
from server.requests.page import SearchQuery, SearchText, clean_text
from server.store.flows import FlowEntry
from tools.json_types import FlowJson

TITLE_LIMIT = 200
"""Characters of a title."""


class ConversationQuery(SearchQuery):
    """Asks for a page of conversations.

    Attributes:
        flow: the stored flow that they are about; empty for all.
    """

    flow: SearchText = ""


class Conversation(TranscriptEntry):
    """A conversation as lists show it.

    Attributes:
        running: whether a turn of it runs, or waits to run.
    """

    running: bool


class ConversationPage(Page):
    """Conversations, last changed first."""

    conversations: list[Conversation]


class MessagePage(Page):
    """A conversation with a page of its messages, oldest first."""

    conversation: Conversation
    messages: list[TranscriptMessage]


class NewTitle(ContractModel):
    """What a conversation is to be called.

    Attributes:
        title: its new title.
    """

    title: str = Field(min_length=1, max_length=TITLE_LIMIT)

    @field_validator("title", mode="before")
    @classmethod
    def _on_one_line(cls, given: object) -> object:
        return " ".join(clean_text(given).split()) if isinstance(given, str) else given


class ConversationStanding(Received):
    """How a conversation stands: what a client needs to go on with it.

    Attributes:
        running: whether a turn of it runs, or waits to run.
        approvals: what waits for the user's decision.
        proposal: a whole flow that waits for the user's acceptance; null for none.
        proposal_id: its id; null for none.
        canvas: the canvas that it keeps; null unless its turns asked for that with `keep_canvas`.
        language: the code of the language of its last message that says enough to be in one.
    """

    running: bool
    approvals: list[Question]
    proposal: FlowJson | None
    proposal_id: str | None
    canvas: FlowJson | None
    language: str


class RewindRequest(ContractModel):
    """Asks to take back a message and everything after it.

    Attributes:
        message: the id of the message.
        flow: whether the stored flow that it was about is put back to what it was before it, too.
    """

    message: str = Field(pattern=r"^[A-Za-z0-9_-]{1,200}$")
    flow: bool = False


class Rewound(Received):
    """What was taken back.

    Attributes:
        conversation: the conversation as it is now.
        removed: how many messages were removed.
        message: the first of them, whose text may be sent again, as it was or edited.
        flow: the stored flow as it is now; null unless it was asked for.
    """

    conversation: Conversation
    removed: int
    message: TranscriptMessage
    flow: FlowEntry | None
