"""What transcripts are read for: lists of conversations, earlier conversations without one, and going back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from unicodedata import normalize

from agent.conversation.memory import ConversationState, Exchange
from agent.conversation.transcript.parts import AssistantText, Part, TranscriptEntry, TranscriptMessage, UserText


def messages_of(state: ConversationState) -> list[TranscriptMessage]:
    """The messages that a conversation without a transcript still knows: what was written and answered."""
    found: list[TranscriptMessage] = []
    for number, exchange in enumerate(state.turns, start=1):
        parts: list[Part] = [UserText(text=exchange.user)]
        if exchange.assistant:
            parts.append(AssistantText(text=exchange.assistant))
        message = TranscriptMessage(
            id=f"earlier-{number}", at=state.updated_at, flow_id=None, version=None, parts=parts
        )
        found.append(message)
    return found


def state_before(before: str | None, title: str, earlier: Sequence[TranscriptMessage]) -> ConversationState:
    """A conversation as it was before a message.

    Args:
        before: its JSON at that time, empty for a new one; None if that is not kept.
        title: its title.
        earlier: the messages before, of which the texts are remembered if nothing else is kept.
    """
    if before is not None:
        state = ConversationState.from_json(before) if before else ConversationState()
    else:
        state = ConversationState(turn_count=len(earlier))
        for message in earlier:
            said = [part.text for part in message.parts if isinstance(part, AssistantText)]
            if message.text:
                state.record(Exchange(user=message.text, assistant="\n\n".join(said)))
    state.title = title
    return state


def selected(entries: Iterable[TranscriptEntry], text: str) -> list[TranscriptEntry]:
    """The conversations whose title or preview contains a text, whatever its case."""
    wanted = _folded(text)
    return [one for one in entries if wanted in _folded(one.title) or wanted in _folded(one.preview)]


def _folded(text: str) -> str:
    """A text as it is compared: in any case, and however its marks are encoded."""
    return normalize("NFC", text).casefold()
