"""Conversations in an SQLite file, so that they outlive the process."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from agent.conversation.memory import SESSIONS, ConversationState
from runtime.telemetry import log_event

T = TypeVar("T")

_TABLE = """create table if not exists sessions (
    user text not null, session text not null, used integer not null, kept text not null, primary key (user, session)
)"""
_READ = "select kept from sessions where user = ? and session = ?"
_TOUCH = "update sessions set used = (select coalesce(max(used), 0) + 1 from sessions) where user = ? and session = ?"
_KEEP = """insert into sessions values (?, ?, (select coalesce(max(used), 0) + 1 from sessions), ?)
    on conflict (user, session) do update set used = excluded.used, kept = excluded.kept"""
_DROP = "delete from sessions where user = ? and session = ?"
_BEYOND = "from sessions where rowid not in (select rowid from sessions order by used desc limit ?)"
_COUNT = "select count(*) from sessions"


class FileMemory:
    """Conversations in a file of their own.

    Args:
        path: the file; it and its folder are made when they are not there.
        sessions: how many conversations are kept.
    """

    def __init__(self, path: Path, sessions: int = SESSIONS) -> None:
        self._path = path
        self._sessions = sessions
        self._lock = asyncio.Lock()

    async def load(self, user: str, session: str) -> ConversationState:
        """A conversation; one that an older version wrote and that cannot be read any more is an empty one."""

        def read(file: sqlite3.Connection) -> str | None:
            row = file.execute(_READ, (user, session)).fetchone()
            file.execute(_TOUCH, (user, session))
            return None if row is None else str(row[0])

        written = await self._within(read)
        if written is None:
            return ConversationState()
        try:
            return await asyncio.to_thread(ConversationState.model_validate_json, written)
        except ValidationError:
            return ConversationState()

    async def save(self, user: str, session: str, kept: ConversationState) -> int:
        """Keep a conversation, dropping those unused for longest beyond the limit."""

        def write(file: sqlite3.Connection) -> tuple[list[str], int]:
            written = kept.model_dump_json()
            file.execute(_KEEP, (user, session, written))
            evicted = [str(row[0]) for row in file.execute(f"select session {_BEYOND}", (self._sessions,))]
            file.execute(f"delete {_BEYOND}", (self._sessions,))
            return evicted, int(file.execute(_COUNT).fetchone()[0])

        evicted, count = await self._within(write)
        for each in evicted:
            log_event(
                "assistant.conversation_buffer.session_evicted", evicted_session_id=each, current_session_count=count
            )
        return count

    async def forget(self, user: str, session: str) -> None:
        """Drop a conversation."""
        await self._within(lambda file: file.execute(_DROP, (user, session)))

    async def _within(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def worked() -> T:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=10)) as file, file:
                file.execute(_TABLE)
                return work(file)

        async with self._lock:
            return await asyncio.to_thread(worked)
