"""The rows of what users keep secret."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from sqlalchemy import bindparam, delete, select

from runtime.database.connections import upsert
from runtime.database.database import Database
from runtime.database.tables import SecretRow

_OF_OWNER = select(SecretRow.kind, SecretRow.document).where(SecretRow.owner == bindparam("user"))


class SecretRows:
    """Encrypted documents by owner and kind. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, owner: str) -> Mapping[str, str]:
        """The documents of an owner by kind."""
        async with self._database.reading() as connection:
            rows = await connection.execute(_OF_OWNER, {"user": owner})
            return {row.kind: row.document for row in rows}

    async def change(self, owner: str, kind: str, change: Callable[[str | None], str | None]) -> None:
        """Change a document, by one writer at a time.

        Args:
            owner: the owner.
            kind: the kind.
            change: returns the new document; it is given the stored one, or None. Nothing changes when they are equal,
                or when it raises. It blocks for a moment.
        """
        mine = (SecretRow.owner == owner) & (SecretRow.kind == kind)
        async with self._database.writing(owner) as connection:
            # A write, even of nothing, excludes SQLite's other writers from before the reading on.
            await connection.execute(delete(SecretRow).where(mine, SecretRow.document == ""))
            stored = (await connection.execute(select(SecretRow.document).where(mine))).scalar_one_or_none()
            document = await asyncio.to_thread(change, stored)
            if document is None:
                await connection.execute(delete(SecretRow).where(mine))
            elif document != stored:
                await upsert(connection, SecretRow, {"owner": owner, "kind": kind}, {"document": document})
