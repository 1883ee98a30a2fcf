"""Where conversations are kept: in the database of this machine, or on a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol

from agent.conversation.stored import StoredMemory
from agent.conversation.transcript.parts import TranscriptEntry, TranscriptMessage
from agent.errors import AssistantUnavailable
from cli.database import opened_database
from cli.errors import CommandError
from cli.remote.connection import Server
from cli.remote.stores.conversations import RemoteConversations
from runtime.database.database import Database
from runtime.files.folders import LOCAL_USER
from runtime.sessions.store import FlowSessions
from server.store.flows import FlowEntry
from server.store.turn_rows import SqlTurns
from server.store.turns import SteadyClock

_MESSAGES = 10_000
"""Messages of a conversation that are read at most."""


class Conversations(Protocol):
    """The conversations of one user."""

    async def entries(self, text: str, limit: int) -> tuple[list[TranscriptEntry], int]:
        """Those in whose title or preview a text stands, last used first, and how many there are in all."""
        ...

    async def messages(self, session: str) -> list[TranscriptMessage]:
        """The messages of one, oldest first."""
        ...

    async def retitle(self, session: str, title: str) -> None:
        """Give one another title."""
        ...

    async def remove(self, session: str) -> None:
        """Remove one, with what its runs remember."""
        ...

    async def rewind(self, session: str, message: str, *, flow: bool) -> FlowEntry | None:
        """Take back a message and everything after it; returns the stored flow if it was put back as well."""
        ...


class LocalConversations:
    """Those in the database of this machine.

    Args:
        database: the database.
    """

    def __init__(self, database: Database) -> None:
        self._memory = StoredMemory(database)
        self._sessions = FlowSessions(database)
        self._turns = SqlTurns(database, "", 0.0, SteadyClock())

    async def entries(self, text: str, limit: int) -> tuple[list[TranscriptEntry], int]:
        """Those in whose title or preview a text stands, last used first, and how many there are in all."""
        return await self._memory.transcripts.page(LOCAL_USER, limit, 0, text)

    async def messages(self, session: str) -> list[TranscriptMessage]:
        """The messages of one, oldest first."""
        found, _ = await self._memory.transcripts.messages(LOCAL_USER, session, _MESSAGES, 0)
        return found

    async def retitle(self, session: str, title: str) -> None:
        """Give one another title."""
        await self._memory.transcripts.retitle(LOCAL_USER, session, title)

    async def remove(self, session: str) -> None:
        """Remove one, with what its runs remember."""
        await self._not_running(session)
        await self._memory.forget(LOCAL_USER, session)
        await self._sessions.remove_everywhere(LOCAL_USER, session)

    async def rewind(self, session: str, message: str, *, flow: bool) -> FlowEntry | None:
        """Take back a message and everything after it; flows are stored on servers alone."""
        if flow:
            raise CommandError("server_needed", "Flows are stored on a server.", fix="Write --server URL.")
        await self._not_running(session)
        await self._memory.transcripts.rewind(LOCAL_USER, session, message)
        return None

    async def _not_running(self, session: str) -> None:
        """Refuse what a turn would undo when it saves the conversation.

        Raises:
            CommandError: a server with this database takes one.
        """
        if await self._turns.runs_elsewhere(LOCAL_USER, session):
            fix = "Wait until it has ended, or stop it; a server that was killed ends it when it starts again."
            raise CommandError("turn_runs", "A server takes a turn of this conversation.", fix=fix)


class ServerConversations:
    """Those that a server keeps.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self._remote = RemoteConversations(server)

    async def entries(self, text: str, limit: int) -> tuple[list[TranscriptEntry], int]:
        """Those in whose title or preview a text stands, last used first, and how many there are in all."""
        found, total = await asyncio.to_thread(self._remote.entries, text, limit)
        return [TranscriptEntry(**one.model_dump(exclude={"running"})) for one in found], total

    async def messages(self, session: str) -> list[TranscriptMessage]:
        """The messages of one, oldest first."""
        _, found = await asyncio.to_thread(self._remote.messages, session)
        return found

    async def retitle(self, session: str, title: str) -> None:
        """Give one another title."""
        await asyncio.to_thread(self._remote.retitle, session, title)

    async def remove(self, session: str) -> None:
        """Remove one, with what its runs remember."""
        await asyncio.to_thread(self._remote.remove, session)

    async def rewind(self, session: str, message: str, *, flow: bool) -> FlowEntry | None:
        """Take back a message and everything after it; with `flow`, its flow as well."""
        done = await asyncio.to_thread(lambda: self._remote.rewind(session, message, flow=flow))
        return done.flow


@asynccontextmanager
async def local_conversations() -> AsyncGenerator[LocalConversations]:
    """The conversations of this machine's user, as the settings say where.

    Raises:
        CommandError: the database cannot be used.
    """
    try:
        async with opened_database() as database:
            yield LocalConversations(database)
    except AssistantUnavailable as unavailable:
        error = unavailable.error
        raise CommandError(error.code, error.message, fix=error.fix) from None
