"""The rows of calls that wait, and of the flows that clients work on."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, delete, insert, select

from runtime.database.connections import upsert
from runtime.database.database import Database
from runtime.mcp.tables import McpBaselineRow, McpCallRow


@dataclass(frozen=True)
class StoredCall:
    """A call that waits, as it is stored.

    Attributes:
        call: the digest of the tool and its arguments.
        until: when it ends, in seconds since the epoch.
        document: the encrypted rest.
    """

    call: str
    until: int
    document: str


class CallRows:
    """The calls of one user that wait. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        owner: the user.
    """

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def add(self, name: str, call: str, document: str, *, now: int, until: int, kept: int) -> None:
        """Store a call, and drop those that have ended.

        Args:
            name: the digest of its name.
            call: the digest of the tool and its arguments.
            document: the encrypted rest.
            now: the time in seconds since the epoch.
            until: when it ends.
            kept: how many of the user's are kept.
        """
        mine, row = McpCallRow.owner == self._owner, McpCallRow
        values = {"owner": self._owner, "name": name, "call": call, "until": until, "document": document}
        async with self._database.writing(self._owner) as connection:
            await connection.execute(delete(row).where(row.until <= now))
            await connection.execute(insert(row).values(**values))
            beyond = select(row.name).where(mine).order_by(row.until.desc(), row.name).offset(kept)
            names = (await connection.execute(beyond)).scalars().all()
            if names:
                await connection.execute(delete(row).where(mine, row.name.in_(names)))

    async def take(self, name: str) -> StoredCall | None:
        """Remove a call; returns it to the one who has removed it."""
        row = McpCallRow
        one = and_(row.owner == self._owner, row.name == name)
        async with self._database.writing(self._owner) as connection:
            wanted = select(row.call, row.until, row.document).where(one)
            found = (await connection.execute(wanted)).one_or_none()
            removed = found is not None and (await connection.execute(delete(row).where(one))).rowcount
        return StoredCall(*found) if found is not None and removed else None


@dataclass(frozen=True)
class StoredBaseline:
    """Which version of a flow is the user's, as it is stored.

    Attributes:
        before: that version; None when the client has made the flow.
        version: the version that the client has stored.
        until: when all of the flow counts as the user's, in seconds since the epoch.
    """

    before: int | None
    version: int
    until: int


class BaselineRows:
    """The flows that clients of one user work on. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        owner: the user.
    """

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def find(self, client: str, flow: str) -> StoredBaseline | None:
        """What is stored of a flow that a client works on."""
        row = McpBaselineRow
        wanted = select(row.before, row.version, row.until).where(self._is(client, flow))
        async with self._database.reading() as connection:
            found = (await connection.execute(wanted)).one_or_none()
        return None if found is None else StoredBaseline(*found)

    async def put(self, client: str, flow: str, baseline: StoredBaseline, *, now: int) -> None:
        """Store it, and drop what has ended.

        Args:
            client: the client.
            flow: the flow.
            baseline: what is stored.
            now: the time in seconds since the epoch.
        """
        keys = {"owner": self._owner, "client": client, "flow": flow}
        values = {"before": baseline.before, "version": baseline.version, "until": baseline.until}
        async with self._database.writing() as connection:
            await connection.execute(delete(McpBaselineRow).where(McpBaselineRow.until <= now))
            await upsert(connection, McpBaselineRow, keys, values)

    async def remove(self, client: str, flow: str) -> None:
        """Forget a flow that a client works on."""
        async with self._database.writing() as connection:
            await connection.execute(delete(McpBaselineRow).where(self._is(client, flow)))

    def _is(self, client: str, flow: str) -> ColumnElement[bool]:
        row = McpBaselineRow
        return and_(row.owner == self._owner, row.client == client, row.flow == flow)
