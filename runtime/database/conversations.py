"""The stored conversations, as encrypted text; the least recently used ones are dropped."""

import asyncio
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, select, tuple_, update

from runtime.database.backends.once import note_once
from runtime.database.connections import upsert
from runtime.database.database import Database
from runtime.database.tables import ConversationRow
from runtime.database.transcripts import NEXT_USE, MessageText, add_message, remove_transcript

_IN_USE = ConversationRow.set_aside == ""
_LAST_USE = (
    select(func.max(ConversationRow.used)).where(_IN_USE, ConversationRow.owner == bindparam("of")).scalar_subquery()
)
_COUNT = (
    select(func.count(), func.count().filter(ConversationRow.owner == bindparam("of")))
    .select_from(ConversationRow)
    .where(_IN_USE)
)
_LOAD = select(ConversationRow.document, (ConversationRow.used == _LAST_USE).label("is_last")).where(
    _IN_USE, ConversationRow.owner == bindparam("of"), ConversationRow.session == bindparam("in_session")
)


class ConversationRows:
    """Conversations by owner and session. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, owner: str, session: str) -> str | None:
        """The document of a conversation; loading it counts as use, unless it is the last used."""
        async with self._database.reading() as connection:
            found = (await connection.execute(_LOAD, {"of": owner, "in_session": session})).one_or_none()
        if found is None:
            return None
        if not found.is_last:
            async with self._database.writing() as connection:
                await connection.execute(update(ConversationRow).where(_row(owner, session)).values(used=NEXT_USE))
        return await asyncio.to_thread(self._database.documents.unseal_text, found.document)

    async def save(
        self,
        owner: str,
        session: str,
        document: str,
        max_conversations: int,
        message: MessageText | None = None,
        *,
        waiting: bool = False,
    ) -> tuple[list[str], int]:
        """Store a conversation.

        Args:
            owner: whose it is.
            session: its id.
            document: its content.
            max_conversations: how many conversations of an owner are kept; the least recently used ones are dropped,
                but none in which something waits for an answer, and not their transcripts.
            message: what is added to its transcript.
            waiting: whether something in it waits for the user's answer.

        Returns:
            The sessions that were dropped, and how many conversations of all owners there are.
        """
        document = await asyncio.to_thread(self._database.documents.seal_text, document)
        whose = {"owner": owner, "session": session, "set_aside": ""}
        key = (ConversationRow.owner, ConversationRow.session)
        mine = select(*key).where(_IN_USE, ConversationRow.owner == owner)
        last = mine.order_by(ConversationRow.used.desc()).limit(max_conversations)
        beyond = mine.where(ConversationRow.waiting.is_(False), tuple_(*key).not_in(last))
        async with self._database.writing(owner) as connection:
            await note_once(connection)
            await upsert(
                connection, ConversationRow, whose, {"used": NEXT_USE, "document": document, "waiting": waiting}
            )
            if message is not None:
                await add_message(connection, owner, session, message)
            count, own = (await connection.execute(_COUNT, {"of": owner})).one()
            if own <= max_conversations:
                return [], count
            dropped = (await connection.execute(beyond)).all()
            if dropped:
                await connection.execute(delete(ConversationRow).where(_IN_USE, tuple_(*key).in_(dropped)))
            return [name for _, name in dropped], count - len(dropped)

    async def entries(self, owner: str) -> list[tuple[str, str]]:
        """The sessions of an owner with their documents, last used first."""
        mine = select(ConversationRow.session, ConversationRow.document).where(ConversationRow.owner == owner, _IN_USE)
        async with self._database.reading() as connection:
            rows = (await connection.execute(mine.order_by(ConversationRow.used.desc()))).all()
        unseal = self._database.documents.unseal_text
        return await asyncio.to_thread(lambda: [(session, unseal(document)) for session, document in rows])

    async def set_aside(self, owner: str, session: str) -> None:
        """Keep an unreadable conversation apart, so that its session can start over without replacing it."""
        now = datetime.now(UTC).isoformat()
        async with self._database.writing(owner) as connection:
            await connection.execute(update(ConversationRow).where(_row(owner, session)).values(set_aside=now))

    async def forget(self, owner: str, session: str) -> None:
        """Delete a conversation, its transcript and what was set aside of it, if there is any."""
        of_session = and_(ConversationRow.owner == owner, ConversationRow.session == session)
        async with self._database.writing(owner) as connection:
            await connection.execute(delete(ConversationRow).where(of_session))
            await remove_transcript(connection, owner, session)


def _row(owner: str, session: str) -> ColumnElement[bool]:
    return and_(ConversationRow.owner == owner, ConversationRow.session == session, _IN_USE)
