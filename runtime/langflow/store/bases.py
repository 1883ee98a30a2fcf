"""What flows were like on Langflow servers when they were pulled or sent: the third side of a merge."""

from __future__ import annotations

import json
from typing import Final

from sqlalchemy import delete, func, insert, select

from flows.document import Flow, parsed_flow
from runtime.database.database import Database
from runtime.langflow.changes import content_digest, content_of
from runtime.langflow.secrets import without_secrets
from runtime.langflow.store.tables import LangflowBaseRow

KEPT: Final = 200
"""How many are kept for a user; the least recently used are dropped first."""


class Bases:
    """The flows of one user as they were there. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        owner: the user.
    """

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def keep(self, flow: Flow) -> str:
        """Keep a flow without its secrets; returns the digest of its content.

        Args:
            flow: the flow, as it is there.
        """
        digest, mine = content_digest(flow), LangflowBaseRow.owner == self._owner
        values = {"owner": self._owner, "digest": digest, "document": document_of_base(flow)}
        async with self._database.writing(self._owner) as connection:
            last = (await connection.execute(select(func.max(LangflowBaseRow.used)).where(mine))).scalar_one() or 0
            await connection.execute(delete(LangflowBaseRow).where(mine, LangflowBaseRow.digest == digest))
            await connection.execute(insert(LangflowBaseRow).values(**values, used=last + 1))
            kept = select(LangflowBaseRow.used).where(mine).order_by(LangflowBaseRow.used.desc()).limit(KEPT)
            oldest = min((await connection.execute(kept)).scalars())
            await connection.execute(delete(LangflowBaseRow).where(mine, LangflowBaseRow.used < oldest))
        return digest

    async def get(self, digest: str) -> Flow | None:
        """The flow with a digest; None if it is not kept."""
        wanted = select(LangflowBaseRow.document).where(
            LangflowBaseRow.owner == self._owner, LangflowBaseRow.digest == digest
        )
        async with self._database.reading() as connection:
            document = (await connection.execute(wanted)).scalar_one_or_none()
        return None if document is None else base_of_document(document)


def document_of_base(flow: Flow) -> str:
    """The text that a flow is kept as: its content, without secrets.

    Args:
        flow: the flow, as it is there.
    """
    return json.dumps(without_secrets(content_of(flow)).raw, ensure_ascii=False, separators=(",", ":"))


def base_of_document(document: str) -> Flow:
    """The flow in such a text."""
    return parsed_flow(json.loads(document))
