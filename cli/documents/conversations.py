"""The documents of conversations."""

from typing_extensions import TypedDict

from agent.conversation.transcript.parts import TranscriptEntry, TranscriptMessage
from server.store.flows import FlowEntry


class ConversationList(TypedDict):
    """Conversations, last used first, and how many there are in all."""

    conversations: list[TranscriptEntry]
    total: int


class ConversationShown(TypedDict):
    """A conversation with its messages, oldest first."""

    conversation: TranscriptEntry
    messages: list[TranscriptMessage]


class ConversationRewound(TypedDict):
    """What was taken back: how many messages, the first of them, and the stored flow if it was put back."""

    conversation: TranscriptEntry
    removed: int
    message: TranscriptMessage
    flow: FlowEntry | None
