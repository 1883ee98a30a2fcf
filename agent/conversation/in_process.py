"""Conversations in the memory of this process, with their transcripts."""

from __future__ import annotations

import zlib
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from itertools import islice

from agent.conversation.memory import SESSIONS, ConversationState
from agent.conversation.transcript.parts import NewMessage, TranscriptEntry, TranscriptMessage
from agent.conversation.transcript.reading import selected, state_before
from runtime.telemetry import log_event

REWINDS = 20
"""For how many messages of a conversation it is kept how the conversation was before them."""

MESSAGES = 500
"""How many messages of a conversation are kept here; the oldest are dropped first."""

SHORT = 4_000
"""Characters of JSON below which compressing it takes more time than it saves room."""


class _Said:
    """A message as it is kept here, compressed when it is long: most of it is flows.

    Args:
        message: the message.
        before: the conversation before it.
    """

    def __init__(self, message: TranscriptMessage, before: str) -> None:
        self.id, self.preview, self.flow_id = message.id, message.preview, message.flow_id
        self._message = _packed(message.to_json())
        self._before: bytes | None = _packed(before) if before else b""

    @property
    def message(self) -> TranscriptMessage:
        """The message."""
        return TranscriptMessage.from_json(_unpacked(self._message))

    @property
    def before(self) -> str | None:
        """The conversation before it; None when it was forgotten."""
        return _unpacked(self._before) if self._before else None if self._before is None else ""

    def forget_before(self) -> None:
        """Forget the conversation before it."""
        self._before = None


@dataclass
class _Kept:
    """One conversation.

    Attributes:
        document: what the next turns need of it, as JSON.
        title: what it is called; empty before its first message.
        messages: those of its transcript.
        waiting: whether a question waits.
        needed: whether an approval or a proposal waits for the user's answer.
    """

    document: str = ""
    needed: bool = False
    title: str = ""
    messages: list[_Said] = field(default_factory=list[_Said])
    created_at: str = ""
    updated_at: str = ""
    waiting: bool = False

    def add(self, new: NewMessage) -> None:
        self.title = self.title or new.title
        self.created_at = self.created_at or new.message.at
        self.updated_at, self.waiting = new.message.at, new.waiting
        others = [one for one in self.messages if one.id != new.message.id]
        self.messages = [*others, _Said(new.message, new.before)][-MESSAGES:]
        for said in self.messages[:-REWINDS]:
            said.forget_before()


def _packed(text: str) -> bytes:
    """A JSON object, whose first character tells it from what is compressed."""
    return text.encode() if len(text) < SHORT else zlib.compress(text.encode(), 1)


def _unpacked(packed: bytes) -> str:
    return (packed if packed.startswith(b"{") else zlib.decompress(packed)).decode()


class ProcessMemory:
    """Conversations in the memory of this process, as JSON.

    Args:
        sessions: how many of a user are kept, with their transcripts.
    """

    def __init__(self, sessions: int = SESSIONS) -> None:
        self._sessions = sessions
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._of_user: Counter[str] = Counter()

    async def load(self, user: str, session: str) -> ConversationState:
        """Load a conversation, which counts as a use of it."""
        kept = self._kept.get((user, session))
        if kept is None or not kept.document:
            return ConversationState()
        self._kept.move_to_end((user, session))
        return ConversationState.from_json(kept.document)

    async def save(self, user: str, session: str, state: ConversationState, message: NewMessage | None = None) -> int:
        """Save a conversation; beyond the limit, the user's least recently used ones that do not wait are dropped."""
        kept = self._kept.get((user, session))
        if kept is None:
            kept = self._kept[user, session] = _Kept()
            self._of_user[user] += 1
        kept.document, kept.needed = state.to_json(), state.waits
        if message is not None:
            kept.add(message)
        self._kept.move_to_end((user, session))
        beyond = max(0, self._of_user[user] - self._sessions)
        oldest = islice((key for key in self._kept if key[0] == user), beyond)
        for _, evicted in [key for key in oldest if not self._kept[key].needed]:
            self._drop(user, evicted)
            log_event(
                "assistant.conversation_buffer.session_evicted",
                evicted_session_id=evicted,
                current_session_count=len(self._kept),
            )
        return len(self._kept)

    async def forget(self, user: str, session: str) -> None:
        """Delete a conversation."""
        self._drop(user, session)

    def _drop(self, user: str, session: str) -> None:
        if self._kept.pop((user, session), None) is not None:
            self._of_user[user] -= 1

    @property
    def transcripts(self) -> ProcessTranscripts:
        """What people read of them."""
        return ProcessTranscripts(self._kept)


class ProcessTranscripts:
    """The transcripts of the conversations of a `ProcessMemory`.

    Args:
        kept: the conversations.
    """

    def __init__(self, kept: OrderedDict[tuple[str, str], _Kept]) -> None:
        self._kept = kept

    async def page(
        self, user: str, limit: int, offset: int, text: str = "", flow: str = ""
    ) -> tuple[list[TranscriptEntry], int]:
        """Conversations, last changed first, and how many there are in all."""
        mine = [_entry(session, kept) for (owner, session), kept in self._kept.items() if owner == user and kept.title]
        mine.sort(key=lambda one: one.updated_at, reverse=True)
        found = selected((one for one in mine if flow in ("", one.flow_id)), text)
        return found[offset : offset + limit], len(found)

    async def entry(self, user: str, session: str) -> TranscriptEntry | None:
        """One conversation, if there is one."""
        kept = self._kept.get((user, session))
        return None if kept is None or not kept.title else _entry(session, kept)

    async def messages(self, user: str, session: str, limit: int, offset: int) -> tuple[list[TranscriptMessage], int]:
        """The messages of a conversation, oldest first, and how many there are in all."""
        kept = self._kept.get((user, session), _Kept()).messages
        return [said.message for said in kept[offset : offset + limit]], len(kept)

    async def message(self, user: str, session: str, message: str) -> TranscriptMessage | None:
        """One message, if there is one."""
        kept = self._kept.get((user, session), _Kept()).messages
        return next((said.message for said in kept if said.id == message), None)

    async def retitle(self, user: str, session: str, title: str) -> bool:
        """Give a conversation another title; returns whether there is one."""
        kept = self._kept.get((user, session))
        if kept is None or not kept.title:
            return False
        kept.title = title
        return True

    async def rewind(self, user: str, session: str, message: str) -> int:
        """Delete a message and those after it, and put the conversation back to how it was before them."""
        kept = self._kept.get((user, session), _Kept())
        place = next((index for index, said in enumerate(kept.messages) if said.id == message), None)
        if place is None:
            return 0
        removed, before = len(kept.messages) - place, kept.messages[place].before
        kept.messages = kept.messages[:place]
        state = state_before(before, kept.title, [said.message for said in kept.messages])
        kept.document, kept.waiting, kept.needed = state.to_json(), state.pending is not None, state.waits
        return removed


def _entry(session: str, kept: _Kept) -> TranscriptEntry:
    last = kept.messages[-1] if kept.messages else None
    return TranscriptEntry(
        id=session,
        title=kept.title,
        preview="" if last is None else last.preview,
        created_at=kept.created_at,
        updated_at=kept.updated_at,
        flow_id=None if last is None else last.flow_id,
        messages=len(kept.messages),
        waiting=kept.waiting,
    )
