"""The rows of transcripts: conversations and their messages, as encrypted text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from runtime.database.database import Database
from runtime.database.tables import ConversationRow, TranscriptMessageRow, TranscriptRow

REWINDS = 20
"""For how many messages of a conversation it is kept how the conversation was before them."""


@dataclass(frozen=True, kw_only=True)
class MessageText:
    """A message as it is stored: its texts are encrypted.

    Attributes:
        id: its id, unique in its conversation.
        at: when its turn ended.
        flow: the stored flow that it was about, or empty.
        version: the version of that flow before it.
        document: its parts.
        title: what the conversation is called if it is its first one.
        preview: what lists show of it.
        before: the conversation before it; None for none.
    """

    id: str
    at: str
    flow: str
    version: int | None
    document: str
    title: str
    preview: str
    before: str | None


@dataclass(frozen=True, kw_only=True)
class TranscriptText:
    """A conversation as it is stored: its title and preview are encrypted."""

    session: str
    title: str
    preview: str
    created_at: str
    updated_at: str
    flow: str
    messages: int


async def add_message(connection: AsyncConnection, owner: str, session: str, message: MessageText) -> None:
    """Add a message to a transcript, in a transaction; one with the same id is replaced.

    Args:
        connection: is in the transaction.
        owner: whose conversation it is.
        session: the conversation.
        message: the message.
    """
    mine, entry = _messages(owner, session), _entry(owner, session)
    columns = {name: getattr(message, name) for name in ("at", "flow", "version", "document")}
    same = update(TranscriptMessageRow).where(*mine, TranscriptMessageRow.id == message.id).values(columns)
    added = not (await connection.execute(same)).rowcount
    if added:
        new = {**columns, "owner": owner, "session": session, "id": message.id, "before": message.before}
        await connection.execute(insert(TranscriptMessageRow).values(new))
        latest = select(TranscriptMessageRow.number).where(*mine).order_by(TranscriptMessageRow.number.desc())
        oldest = (await connection.execute(latest.offset(REWINDS).limit(1))).scalar_one_or_none()
        if oldest is not None:
            old = update(TranscriptMessageRow).where(*mine, TranscriptMessageRow.number <= oldest)
            await connection.execute(old.where(TranscriptMessageRow.before.is_not(None)).values(before=None))
    shown = {"updated_at": message.at, "flow": message.flow, "preview": message.preview}
    change = update(TranscriptRow).where(*entry)
    change = change.values({**shown, "messages": TranscriptRow.messages + int(added)})
    if not (await connection.execute(change)).rowcount:
        new = {**shown, "owner": owner, "session": session, "created_at": message.at, "messages": 1}
        await connection.execute(insert(TranscriptRow).values({**new, "title": message.title}))


async def remove_transcript(connection: AsyncConnection, owner: str, session: str) -> int:
    """Delete a transcript, in a transaction; returns how many there were."""
    await connection.execute(delete(TranscriptMessageRow).where(*_messages(owner, session)))
    return (await connection.execute(delete(TranscriptRow).where(*_entry(owner, session)))).rowcount


class TranscriptRows:
    """Transcripts by owner and session. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def without_transcript(self, owner: str) -> list[tuple[str, str]]:
        """The sessions of conversations of an owner that have no transcript, with their encrypted documents."""
        known = select(TranscriptRow.session).where(TranscriptRow.owner == owner)
        mine = and_(ConversationRow.owner == owner, ConversationRow.set_aside == "")
        wanted = select(ConversationRow.session, ConversationRow.document).where(mine)
        async with self._database.reading() as connection:
            rows = (await connection.execute(wanted.where(ConversationRow.session.not_in(known)))).all()
        return [(session, document) for session, document in rows]

    async def add_all(self, owner: str, session: str, messages: Sequence[MessageText]) -> None:
        """Add the messages of a conversation that has no transcript, unless it has been given one meanwhile."""
        async with self._database.writing(owner) as connection:
            exists = await connection.execute(select(TranscriptRow.session).where(*_entry(owner, session)))
            if exists.one_or_none() is None:
                for message in messages:
                    await add_message(connection, owner, session, message)

    async def entries(self, owner: str, flow: str = "") -> list[TranscriptText]:
        """The conversations of an owner, last changed first: all, or those about a flow."""
        mine = TranscriptRow.owner == owner
        if flow:
            mine = and_(mine, TranscriptRow.flow == flow)
        wanted = select(*_COLUMNS).where(mine).order_by(TranscriptRow.updated_at.desc(), TranscriptRow.session)
        async with self._database.reading() as connection:
            return [TranscriptText(**row) for row in (await connection.execute(wanted)).mappings()]

    async def entry(self, owner: str, session: str) -> TranscriptText | None:
        """One conversation."""
        async with self._database.reading() as connection:
            found = await connection.execute(select(*_COLUMNS).where(*_entry(owner, session)))
            row = found.mappings().one_or_none()
        return None if row is None else TranscriptText(**row)

    async def messages(self, owner: str, session: str, limit: int, offset: int) -> tuple[list[str], int]:
        """The encrypted documents of messages, oldest first, and how many there are in all."""
        mine = _messages(owner, session)
        wanted = select(TranscriptMessageRow.document).where(*mine).order_by(TranscriptMessageRow.number)
        count = select(func.count()).select_from(TranscriptMessageRow).where(*mine)
        async with self._database.reading() as connection:
            found = list((await connection.execute(wanted.limit(limit).offset(offset))).scalars())
            return found, (await connection.execute(count)).scalar_one()

    async def message(self, owner: str, session: str, message: str) -> tuple[str, str | None] | None:
        """A message's encrypted document, and the conversation before it; None if there is no such message."""
        wanted = select(TranscriptMessageRow.document, TranscriptMessageRow.before)
        mine = wanted.where(*_messages(owner, session), TranscriptMessageRow.id == message)
        async with self._database.reading() as connection:
            row = (await connection.execute(mine)).one_or_none()
        return None if row is None else (row[0], row[1])

    async def retitle(self, owner: str, session: str, title: str) -> bool:
        """Give a conversation another encrypted title; returns whether there is such a conversation."""
        change = update(TranscriptRow).where(*_entry(owner, session)).values(title=title)
        async with self._database.writing() as connection:
            return bool((await connection.execute(change)).rowcount)

    async def rewind(self, owner: str, session: str, message: str, document: str, preview: str, flow: str) -> int:
        """Delete a message and those after it, and put the conversation back, all at once.

        Args:
            owner: whose it is.
            session: the conversation.
            message: the message.
            document: the conversation as it was before, encrypted.
            preview: what lists show of it then, encrypted.
            flow: the stored flow that it was then about, or empty.

        Returns:
            How many messages were deleted.
        """
        mine = _messages(owner, session)
        at = select(TranscriptMessageRow.number).where(*mine, TranscriptMessageRow.id == message).scalar_subquery()
        state = and_(
            ConversationRow.owner == owner, ConversationRow.session == session, ConversationRow.set_aside == ""
        )
        async with self._database.writing(owner) as connection:
            first = (await connection.execute(select(at))).scalar_one_or_none()
            if first is None:
                return 0
            later = delete(TranscriptMessageRow).where(*mine, TranscriptMessageRow.number >= first)
            removed = (await connection.execute(later)).rowcount
            left = {"messages": TranscriptRow.messages - removed, "preview": preview, "flow": flow}
            await connection.execute(update(TranscriptRow).where(*_entry(owner, session)).values(left))
            if not (await connection.execute(update(ConversationRow).where(state).values(document=document))).rowcount:
                new = insert(ConversationRow).values(owner=owner, session=session, used=NEXT_USE, document=document)
                await connection.execute(new)
            return removed


NEXT_USE = select(func.coalesce(func.max(ConversationRow.used), 0) + 1).scalar_subquery()
"""What the conversation that is used now is marked with."""

_COLUMNS = (
    TranscriptRow.session, TranscriptRow.title, TranscriptRow.preview, TranscriptRow.created_at,
    TranscriptRow.updated_at, TranscriptRow.flow, TranscriptRow.messages,
)  # fmt: skip


def _messages(owner: str, session: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return TranscriptMessageRow.owner == owner, TranscriptMessageRow.session == session


def _entry(owner: str, session: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return TranscriptRow.owner == owner, TranscriptRow.session == session
