"""The stored sessions of flows and their messages; the oldest of each are dropped."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from runtime.database.connections import upsert
from runtime.database.database import Database
from runtime.database.tables import FlowSessionRow, MessageRow
from runtime.sessions.entry import SessionEntry
from runtime.sessions.memory import MAX_BYTES, MAX_MESSAGES, MAX_SESSIONS
from runtime.sessions.messages import Message, MessageChanges

_NEXT_USE = select(func.coalesce(func.max(FlowSessionRow.used), 0) + 1).scalar_subquery()
_FIELDS = (
    MessageRow.id,
    MessageRow.sender,
    MessageRow.sender_name,
    MessageRow.text,
    MessageRow.context,
    MessageRow.timestamp,
)


class SessionRows:
    """Sessions by owner, flow and session id. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        max_messages: how many messages of a session are kept.
        max_bytes: how many bytes of them.
        max_sessions: how many sessions of an owner are kept.
    """

    def __init__(
        self,
        database: Database,
        *,
        max_messages: int = MAX_MESSAGES,
        max_bytes: int = MAX_BYTES,
        max_sessions: int = MAX_SESSIONS,
    ) -> None:
        self._database = database
        self._max_messages = max_messages
        self._max_bytes = max_bytes
        self._max_sessions = max_sessions

    async def load(self, owner: str, flow: str, session: str) -> list[Message]:
        """The messages of a session, oldest first."""
        found = (
            select(*_FIELDS)
            .join(FlowSessionRow, FlowSessionRow.number == MessageRow.session)
            .where(_is(owner, flow, session), MessageRow.owner == owner)
            .order_by(MessageRow.number)
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(found)).mappings().all()
        return [Message(**row) for row in rows]

    async def save(self, owner: str, flow: str, session: str, changes: MessageChanges) -> None:
        """Apply the changes of one run in one transaction, then drop what is beyond the limits."""
        async with self._database.writing(owner) as connection:
            number = await _touch(connection, owner, flow, session)
            mine = _of(owner, number)
            if changes.deleted:
                await connection.execute(delete(MessageRow).where(mine, MessageRow.id.in_(changes.deleted)))
            for message in changes.changed:
                values = {**message.to_json(), "size": message.size}
                await connection.execute(update(MessageRow).where(mine, MessageRow.id == message.id).values(values))
            if changes.added:
                new = [
                    {**each.to_json(), "size": each.size, "session": number, "owner": owner} for each in changes.added
                ]
                await connection.execute(insert(MessageRow), new)
            await self._drop_oldest(connection, owner, number)
            await self._drop_sessions(connection, owner)

    async def entries(self, owner: str, flow: str) -> Sequence[SessionEntry]:
        """The sessions of a flow, last used first."""
        found = (
            select(FlowSessionRow.session, FlowSessionRow.messages, FlowSessionRow.bytes, FlowSessionRow.updated_at)
            .where(FlowSessionRow.owner == owner, FlowSessionRow.flow == flow)
            .order_by(FlowSessionRow.used.desc())
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(found)).mappings().all()
        return [SessionEntry(**row) for row in rows]

    async def remove(self, owner: str, *, flow: str | None = None, session: str | None = None) -> int:
        """Delete an owner's sessions of a flow, with an id, or both; returns how many."""
        which: list[ColumnElement[bool]] = [true()]
        if flow is not None:
            which.append(FlowSessionRow.flow == flow)
        if session is not None:
            which.append(FlowSessionRow.session == session)
        async with self._database.writing(owner) as connection:
            return await _delete(connection, owner, and_(*which))

    async def _drop_oldest(self, connection: AsyncConnection, owner: str, number: int) -> None:
        """Drop the oldest messages of a session beyond its limits, and note what is left."""
        newest = select(MessageRow.number, MessageRow.size).where(_of(owner, number))
        kept, size = 0, 0
        for row in await connection.execute(newest.order_by(MessageRow.number.desc())):
            if kept == self._max_messages or size + row.size > self._max_bytes:
                beyond = delete(MessageRow).where(_of(owner, number), MessageRow.number <= row.number)
                await connection.execute(beyond)
                break
            kept, size = kept + 1, size + row.size
        counted = update(FlowSessionRow).where(FlowSessionRow.number == number)
        await connection.execute(counted.values(messages=kept, bytes=size))

    async def _drop_sessions(self, connection: AsyncConnection, owner: str) -> None:
        """Drop the least recently used sessions of an owner beyond the limit."""
        mine = select(FlowSessionRow.number).where(FlowSessionRow.owner == owner)
        beyond = mine.order_by(FlowSessionRow.used.desc()).offset(self._max_sessions)
        dropped = (await connection.execute(beyond)).scalars().all()
        if dropped:
            await _delete(connection, owner, FlowSessionRow.number.in_(dropped))


async def _touch(connection: AsyncConnection, owner: str, flow: str, session: str) -> int:
    """Mark a session as used, creating it if there is none; returns its number."""
    now = datetime.now(UTC).isoformat()
    unchanged = {"messages": FlowSessionRow.messages, "bytes": FlowSessionRow.bytes}
    whose = {"owner": owner, "flow": flow, "session": session}
    new = {"used": _NEXT_USE, "updated_at": now, "messages": 0, "bytes": 0}
    await upsert(connection, FlowSessionRow, whose, new, {**new, **unchanged})
    return (await connection.execute(select(FlowSessionRow.number).where(_is(owner, flow, session)))).scalar_one()


async def _delete(connection: AsyncConnection, owner: str, which: ColumnElement[bool]) -> int:
    mine = and_(FlowSessionRow.owner == owner, which)
    numbers = select(FlowSessionRow.number).where(mine)
    await connection.execute(delete(MessageRow).where(MessageRow.owner == owner, MessageRow.session.in_(numbers)))
    return (await connection.execute(delete(FlowSessionRow).where(mine))).rowcount


def _of(owner: str, number: int) -> ColumnElement[bool]:
    """A message of an owner's session."""
    return and_(MessageRow.owner == owner, MessageRow.session == number)


def _is(owner: str, flow: str, session: str) -> ColumnElement[bool]:
    return and_(FlowSessionRow.owner == owner, FlowSessionRow.flow == flow, FlowSessionRow.session == session)
