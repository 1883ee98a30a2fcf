"""Conversations in the database, so that they outlive the process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agent.conversation.failures import store_failures
from agent.conversation.memory import SESSIONS, ConversationState, title_of
from agent.conversation.transcript.parts import NewMessage
from agent.conversation.transcript.stored import StoredTranscripts
from runtime.database.database import Database
from runtime.telemetry import log_event

if TYPE_CHECKING:
    from runtime.database.conversations import ConversationRows


class ConversationEntry(BaseModel):
    """A conversation as a list shows it.

    Attributes:
        id: its session's id.
        updated_at: when its last turn ended, ISO 8601 in UTC; empty if that was not noted.
        title: the beginning of its first message.
        turns: how many turns it has had.
        waiting: whether a question waits for the user's answer.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    updated_at: str
    title: str
    turns: int
    waiting: bool


class _Message(BaseModel):
    user: str


class _Listed(BaseModel):
    """What a list reads of a stored conversation."""

    title: str = ""
    updated_at: str = ""
    turn_count: int = 0
    turns: list[_Message] = Field(default_factory=list[_Message])
    pending: JsonValue = None


class StoredMemory:
    """Conversations in a database. Every method may raise `AssistantUnavailable`.

    Args:
        database: the database.
        sessions: how many conversations of a user are kept.
    """

    def __init__(self, database: Database, sessions: int = SESSIONS) -> None:
        self._database = database
        self._sessions = sessions
        self._transcripts = StoredTranscripts(database)

    @property
    def transcripts(self) -> StoredTranscripts:
        """What people read of the conversations."""
        return self._transcripts

    async def load(self, user: str, session: str) -> ConversationState:
        """Load a conversation; an unreadable one is logged, set aside and replaced by an empty one."""
        with store_failures():
            rows = await self._rows()
            document = await rows.load(user, session)
            if document is None:
                return ConversationState()
            try:
                return await asyncio.to_thread(ConversationState.from_json, document)
            except ValidationError as error:
                await rows.set_aside(user, session)
                log_event(
                    "assistant.conversation_buffer.session_unreadable",
                    logging.WARNING,
                    user_id=user,
                    session_id=session,
                    errors=error.error_count(),
                )
                return ConversationState()

    async def save(self, user: str, session: str, state: ConversationState, message: NewMessage | None = None) -> int:
        """Save a conversation; beyond the limit, the least recently used ones in which nothing waits are dropped.

        Their transcripts stay.
        """
        document = await asyncio.to_thread(state.to_json)
        with store_failures():
            added = None
            if message is not None:
                await self._transcripts.complete(user)
                added = await asyncio.to_thread(self._transcripts.text_of, message)
            rows = await self._rows()
            dropped, count = await rows.save(user, session, document, self._sessions, added, waiting=state.waits)
        for evicted in dropped:
            log_event(
                "assistant.conversation_buffer.session_evicted", evicted_session_id=evicted, current_session_count=count
            )
        return count

    async def entries(self, user: str) -> list[ConversationEntry]:
        """List the conversations of a user in which something was said, last used first; unreadable ones are left out.

        Args:
            user: the user's id.
        """
        with store_failures():
            rows = await (await self._rows()).entries(user)
        return await asyncio.to_thread(lambda: list(_entries(rows)))

    async def forget(self, user: str, session: str) -> None:
        """Delete a conversation."""
        with store_failures():
            await (await self._rows()).forget(user, session)

    async def _rows(self) -> ConversationRows:
        await self._database.open()
        from runtime.database.conversations import ConversationRows

        return ConversationRows(self._database)


def _entries(rows: Iterable[tuple[str, str]]) -> Generator[ConversationEntry]:
    for session, document in rows:
        try:
            found = _Listed.model_validate_json(document)
        except ValidationError:
            continue  # `load` logs it and sets it aside
        first = next((turn.user for turn in found.turns), "")
        if not first and not found.turn_count:
            continue
        yield ConversationEntry(
            id=session,
            updated_at=found.updated_at,
            title=found.title or title_of(first),
            turns=found.turn_count,
            waiting=found.pending is not None,
        )
