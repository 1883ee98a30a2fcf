"""The sessions of flows, kept in the database, so that runs that end remember."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtime.database.database import Database
from runtime.sessions.entry import SessionEntry
from runtime.sessions.keys import clean_key
from runtime.sessions.messages import Message, MessageChanges

if TYPE_CHECKING:
    from runtime.database.sessions import SessionRows


@dataclass(frozen=True)
class StoredSession:
    """The messages of one session of one user's flow, which a run reads and adds to.

    Both methods may raise `StoreUnavailable`.
    """

    sessions: FlowSessions
    owner: str
    flow: str
    session: str

    async def load(self) -> list[Message]:
        """Its messages, oldest first."""
        return await self.sessions.messages(self.owner, self.flow, self.session)

    async def save(self, changes: MessageChanges) -> None:
        """Keep what a run made of them. What other runs have added meanwhile stays."""
        await self.sessions.save(self.owner, self.flow, self.session, changes)


class FlowSessions:
    """The sessions of flows by user, flow and session id. Every method may raise `StoreUnavailable`.

    A session is bounded by count and bytes, a user's sessions by count; the oldest are dropped first.

    Args:
        database: where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncGenerator[FlowSessions]:
        """The sessions in a database, which is closed at the end of the block.

        Args:
            url: an SQLAlchemy URL with an asynchronous driver.
        """
        database = Database(url)
        try:
            yield cls(database)
        finally:
            await database.aclose()

    def memory(self, owner: str, flow: str, session: str) -> StoredSession:
        """The messages of one session, for a run.

        Args:
            owner: the user.
            flow: the id of a stored flow, or the key of another one (see `flow_key`).
            session: the session's id, as the user gave it.
        """
        return StoredSession(self, owner, clean_key(flow), clean_key(session))

    async def messages(self, owner: str, flow: str, session: str) -> list[Message]:
        """The messages of a session, oldest first; none for an unknown one."""
        return await (await self._rows()).load(owner, clean_key(flow), clean_key(session))

    async def save(self, owner: str, flow: str, session: str, changes: MessageChanges) -> None:
        """Keep what a run made of a session's messages."""
        if changes:
            await (await self._rows()).save(owner, clean_key(flow), clean_key(session), changes)

    async def entries(self, owner: str, flow: str) -> Sequence[SessionEntry]:
        """The sessions of a flow, last used first."""
        return await (await self._rows()).entries(owner, clean_key(flow))

    async def remove(self, owner: str, flow: str, session: str) -> bool:
        """Delete a session of a flow; returns whether there was one."""
        return bool(await (await self._rows()).remove(owner, flow=clean_key(flow), session=clean_key(session)))

    async def remove_flow(self, owner: str, flow: str) -> int:
        """Delete every session of a flow; returns how many there were."""
        return await (await self._rows()).remove(owner, flow=clean_key(flow))

    async def remove_everywhere(self, owner: str, session: str) -> int:
        """Delete a session of all of a user's flows; returns how many there were."""
        return await (await self._rows()).remove(owner, session=clean_key(session))

    async def _rows(self) -> SessionRows:
        await self._database.open()
        from runtime.database.sessions import SessionRows

        return SessionRows(self._database)
