"""Encrypts rows that were stored without: conversations as a whole, and the keys in flows."""

import json
from typing import Final

from sqlalchemy import Column, Connection, MetaData, String, Table, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from flows.document import JsonObject
from runtime.keychain.documents import PREFIX, DocumentSealing

_META: Final = MetaData()
_FLOWS: Final = Table("flows", _META, Column("id", String, primary_key=True), Column("document", String))
_CONVERSATIONS: Final = Table(
    "conversations",
    _META,
    Column("owner", String, primary_key=True),
    Column("session", String, primary_key=True),
    Column("set_aside", String, primary_key=True),
    Column("document", String),
)


def seal_rows(connection: Connection, documents: DocumentSealing) -> None:
    """Encrypt what is not encrypted yet.

    Args:
        connection: is in a transaction.
        documents: encrypts documents.

    Raises:
        SecretKeyUnavailable: they cannot be encrypted.
    """
    for flow in connection.execute(select(_FLOWS.c.id)).scalars().all():
        mine = _FLOWS.c.id == flow
        text = connection.execute(select(_FLOWS.c.document).where(mine)).scalar_one()
        sealed = sealed_flow(documents, text)
        if sealed != text:
            connection.execute(update(_FLOWS).where(mine).values(document=sealed))
    key = (_CONVERSATIONS.c.owner, _CONVERSATIONS.c.session, _CONVERSATIONS.c.set_aside)
    for owner, session, set_aside in connection.execute(select(*key)).all():
        mine = (key[0] == owner) & (key[1] == session) & (key[2] == set_aside)
        text = connection.execute(select(_CONVERSATIONS.c.document).where(mine)).scalar_one()
        if not text.startswith(PREFIX):
            change = update(_CONVERSATIONS).where(mine)
            connection.execute(change.values(document=documents.seal_text(text)))


def sealed_flow(documents: DocumentSealing, text: str) -> str:
    """A flow's document with its keys encrypted; one without keys, or that is no document, as it is."""
    try:
        document: JsonObject = json.loads(text)
    except ValueError:
        return text
    sealed = documents.seal_keys(document)
    return text if sealed == document else json.dumps(sealed, separators=(",", ":"), ensure_ascii=False)


async def erase_what_was_replaced(engine: AsyncEngine) -> None:
    """Write an SQLite file anew, without the pages that still hold what was replaced or deleted.

    Raises:
        SQLAlchemyError: another process is using the file.
    """
    if engine.dialect.name != "sqlite":
        return
    async with engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await alone.exec_driver_sql("VACUUM")
        await alone.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
