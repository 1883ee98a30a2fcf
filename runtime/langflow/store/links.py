"""Which stored flows are linked to flows on Langflow servers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from sqlalchemy import ColumnElement, delete, insert, select

from runtime.database.database import Database
from runtime.langflow.store.tables import LangflowLinkRow


@dataclass(frozen=True, kw_only=True)
class StoredLink:
    """The flow there that a stored flow is linked to.

    Attributes:
        flow: the stored flow.
        version: the version of it that was the same as the one there.
        url: the server.
        there: the flow's id there.
        updated_at: when that had been changed last, as the server says it.
        base: its content then, as JSON without secrets.
    """

    flow: str
    version: int
    url: str
    there: str
    updated_at: str
    base: str


class Links:
    """The links of one user's stored flows. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        owner: the user.
    """

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def get(self, flow: str) -> StoredLink | None:
        """The link of a stored flow, if it has one."""
        columns = [getattr(LangflowLinkRow, field.name) for field in fields(StoredLink)]
        async with self._database.reading() as connection:
            row = (await connection.execute(select(*columns).where(*self._is(flow)))).one_or_none()
        return None if row is None else StoredLink(**dict(zip((column.key for column in columns), row, strict=True)))

    async def keep(self, link: StoredLink) -> None:
        """Link a stored flow; an earlier link of it is replaced."""
        async with self._database.writing(self._owner) as connection:
            await connection.execute(delete(LangflowLinkRow).where(*self._is(link.flow)))
            await connection.execute(insert(LangflowLinkRow).values(owner=self._owner, **asdict(link)))

    async def remove(self, flow: str) -> bool:
        """Remove the link of a stored flow; returns whether there was one."""
        async with self._database.writing(self._owner) as connection:
            return bool((await connection.execute(delete(LangflowLinkRow).where(*self._is(flow)))).rowcount)

    def _is(self, flow: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return LangflowLinkRow.owner == self._owner, LangflowLinkRow.flow == flow
