"""Flows in an SQL database: SQLite in one file, with a write-ahead log so that readers never wait for writers."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Connection, delete, event, func, insert, select, update
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from flows.document import Flow
from server.json_bytes import json_bytes
from server.store.flows import FlowEntry, FlowNotStored, StoredFlow, StoreUnavailable, VersionConflict

BUSY_MILLISECONDS = 5_000
"""How long a write waits for another one."""


class Base(DeclarativeBase):
    """What the tables share."""


class FlowRow(Base):
    """A stored flow."""

    __tablename__ = "flows"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    node_count: Mapped[int]
    edge_count: Mapped[int]
    version: Mapped[int]
    updated_at: Mapped[str] = mapped_column(index=True)
    document: Mapped[str]


_ENTRY = (FlowRow.id, FlowRow.name, FlowRow.node_count, FlowRow.edge_count, FlowRow.version, FlowRow.updated_at)


class SqlFlowStore:
    """Keeps flows in one table.

    Args:
        engine: an open database whose tables exist.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @classmethod
    async def open(cls, url: str) -> "SqlFlowStore":
        """Open a database, making its folder and tables where there are none.

        Args:
            url: an SQLAlchemy URL with an asynchronous driver.

        Raises:
            StoreUnavailable: it cannot be opened.
        """
        with _failures():
            engine = create_async_engine(url)
        if engine.dialect.name == "sqlite":
            _make_folder(url)
            event.listen(engine.sync_engine, "connect", _set_up)
        try:
            with _failures():
                async with engine.begin() as connection:
                    await connection.run_sync(_make_tables)
        except StoreUnavailable:
            await engine.dispose()
            raise
        return cls(engine)

    async def add(self, flow: Flow) -> FlowEntry:
        """Store a flow under a new id, as version 1."""
        entry = _entry(str(uuid4()), flow, 1)
        with _failures():
            async with self._engine.begin() as connection:
                await connection.execute(insert(FlowRow).values(**entry.to_json(), document=_text(flow)))
        return entry

    async def get(self, flow_id: str) -> StoredFlow:
        """The flow with this id."""
        with _failures():
            async with self._engine.connect() as connection:
                found = await connection.execute(select(*_ENTRY, FlowRow.document).where(FlowRow.id == flow_id))
                row = found.one_or_none()
        if row is None:
            raise FlowNotStored(flow_id)
        known_id, name, nodes, edges, version, changed, document = row
        entry = _known(known_id, name, nodes, edges, version, changed)
        return StoredFlow(entry=entry, flow=Flow.from_json(json.loads(document)))

    async def page(self, limit: int, offset: int) -> tuple[list[FlowEntry], int]:
        """Entries, last changed first, and how many there are in all."""
        newest = select(*_ENTRY).order_by(FlowRow.updated_at.desc(), FlowRow.id)
        with _failures():
            async with self._engine.connect() as connection:
                rows = (await connection.execute(newest.limit(limit).offset(offset))).all()
                total = (await connection.execute(select(func.count()).select_from(FlowRow))).scalar_one()
        return [_known(*row) for row in rows], total

    async def replace(self, flow_id: str, flow: Flow, version: int) -> FlowEntry:
        """Store a flow as the revision after `version`."""
        entry = _entry(flow_id, flow, version + 1)
        change = (
            update(FlowRow)
            .where(FlowRow.id == flow_id, FlowRow.version == version)
            .values(**entry.to_json(), document=_text(flow))
        )
        with _failures():
            async with self._engine.begin() as connection:
                if (await connection.execute(change)).rowcount:
                    return entry
                found = await connection.execute(select(FlowRow.version).where(FlowRow.id == flow_id))
                current = found.scalar_one_or_none()
        if current is None:
            raise FlowNotStored(flow_id)
        raise VersionConflict(current)

    async def remove(self, flow_id: str) -> None:
        """Remove the flow with this id."""
        with _failures():
            async with self._engine.begin() as connection:
                gone = (await connection.execute(delete(FlowRow).where(FlowRow.id == flow_id))).rowcount
        if not gone:
            raise FlowNotStored(flow_id)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._engine.dispose()


@contextmanager
def _failures() -> Generator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        raise StoreUnavailable("The flow store cannot be used.") from error


def _make_folder(url: str) -> None:
    file = make_url(url).database
    if file and file != ":memory:":
        with _failures():
            Path(file).parent.mkdir(parents=True, exist_ok=True, mode=0o700)


def _make_tables(connection: Connection) -> None:
    Base.metadata.create_all(connection)


def _set_up(connection: DBAPIConnection, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
    cursor.close()


def _entry(flow_id: str, flow: Flow, version: int) -> FlowEntry:
    return FlowEntry(
        id=flow_id,
        name=flow.name or "Untitled Flow",
        node_count=len(flow.nodes),
        edge_count=len(flow.edges),
        version=version,
        updated_at=datetime.now(UTC).isoformat(),
    )


def _known(flow_id: str, name: str, node_count: int, edge_count: int, version: int, updated_at: str) -> FlowEntry:
    return FlowEntry(
        id=flow_id, name=name, node_count=node_count, edge_count=edge_count, version=version, updated_at=updated_at
    )


def _text(flow: Flow) -> str:
    return json_bytes(flow.raw).decode()
