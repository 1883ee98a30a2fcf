"""Which key a shared database is encrypted with: a process that has another one does not use it."""

from __future__ import annotations

import asyncio
from typing import Final

from sqlalchemy import ColumnClause, ColumnElement, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from runtime.database.backends.insertion import insert_for
from runtime.database.base import Base, column
from runtime.database.tables import ConversationRow, SecretRow
from runtime.jobs.tables import JobRow
from runtime.keychain.documents import PREFIX, DocumentSealing
from runtime.keychain.master_key import FILE, VARIABLE, SecretKeyUnavailable

TABLE: Final = "key_checks"
"""The name of the table, which belongs to an installation and not to what is stored in it: no archive has it."""

_NAME: Final = "secret key"
_TEXT: Final = "wirewright"


class KeyCheckRow(Base):
    """A known text, encrypted with the key in use.

    Attributes:
        name: names the key.
        sealed: the text, encrypted.
    """

    __tablename__ = TABLE

    name: ColumnClause[str] = column(primary_key=True)
    sealed: ColumnClause[str]


class OtherSecretKey(SecretKeyUnavailable):
    """What the database holds was encrypted with another key than this process has."""

    def __init__(self) -> None:
        super().__init__(
            "The database was encrypted with another secret key than the one of this process.",
            f"Give every server and worker of a database the same key: {FILE} of the first one's data folder, or the "
            f"same {VARIABLE}. Nothing was changed.",
        )


async def confirm_key(engine: AsyncEngine, documents: DocumentSealing) -> None:
    """Make sure that this process has the key that a Postgres is encrypted with.

    The first process notes its key; one with a key that replaces that of its file notes the new one. An SQLite file
    belongs to one machine, whose data folder has a check of its own.

    Args:
        engine: the database, in the current schema.
        documents: encrypts what is stored.

    Raises:
        OtherSecretKey: it has another key, or none; no key is made.
        SecretKeyUnavailable: its key cannot be read, or kept.
    """
    if engine.dialect.name != "postgresql":
        return
    noted = await _first(engine, KeyCheckRow.sealed, KeyCheckRow.name == _NAME)
    known = noted or await _anything_sealed(engine)
    if known is not None:
        try:
            await asyncio.to_thread(documents.unseal_text, known)
        except SecretKeyUnavailable:
            raise OtherSecretKey from None
        if noted is not None and await asyncio.to_thread(documents.is_current, noted):
            return
    sealed = await asyncio.to_thread(documents.seal_text, _TEXT)
    async with engine.begin() as connection:
        if noted is not None:
            this = update(KeyCheckRow).where(KeyCheckRow.name == _NAME, KeyCheckRow.sealed == noted)
            await connection.execute(this.values(sealed=sealed))
            return
        added = insert_for(connection.dialect, KeyCheckRow).values(name=_NAME, sealed=sealed)
        if (await connection.execute(added.on_conflict_do_nothing().returning(KeyCheckRow.name))).first() is not None:
            return
    await confirm_key(engine, documents)  # another process was first


async def _anything_sealed(engine: AsyncEngine) -> str | None:
    """Something that an earlier version has encrypted, which noted no key; None if there is nothing."""
    for document in (JobRow.document, ConversationRow.document, SecretRow.document):
        found = await _first(engine, document, document.startswith(PREFIX, autoescape=True))
        if found is not None:
            return found
    return None


async def _first(engine: AsyncEngine, wanted: ColumnClause[str], which: ColumnElement[bool]) -> str | None:
    async with engine.connect() as connection:
        return (await connection.execute(select(wanted).where(which).limit(1))).scalar()
