"""Conversations in an SQLite file, so that they outlive the process."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from agent.memory import SESSIONS, Session

T = TypeVar("T")

_TABLE = """create table if not exists sessions (
    user text not null, session text not null, used integer not null, kept text not null, primary key (user, session)
)"""
_READ = "select kept from sessions where user = ? and session = ?"
_TOUCH = "update sessions set used = (select coalesce(max(used), 0) + 1 from sessions) where user = ? and session = ?"
_KEEP = """insert into sessions values (?, ?, (select coalesce(max(used), 0) + 1 from sessions), ?)
    on conflict (user, session) do update set used = excluded.used, kept = excluded.kept"""
_DROP = "delete from sessions where user = ? and session = ?"
_EVICT = "delete from sessions where rowid not in (select rowid from sessions order by used desc limit ?)"


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

    async def load(self, user: str, session: str) -> Session:
        """A conversation; one that an older version wrote and that cannot be read any more is an empty one."""

        def read(file: sqlite3.Connection) -> str | None:
            row = file.execute(_READ, (user, session)).fetchone()
            file.execute(_TOUCH, (user, session))
            return None if row is None else str(row[0])

        written = await self._within(read)
        if written is None:
            return Session()
        try:
            return await asyncio.to_thread(Session.model_validate_json, written)
        except ValidationError:
            return Session()

    async def save(self, user: str, session: str, kept: Session) -> None:
        """Keep a conversation, dropping those unused for longest beyond the limit."""

        def write(file: sqlite3.Connection) -> None:
            written = kept.model_dump_json()
            file.execute(_KEEP, (user, session, written))
            file.execute(_EVICT, (self._sessions,))

        await self._within(write)

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
