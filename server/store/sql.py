"""Flows in an SQL database, with their keys encrypted."""

import asyncio
import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, bindparam, delete, func, insert, select, update

from flows.document import Flow, parsed_flow
from runtime.database.database import Database
from runtime.database.tables import FlowRow
from runtime.keychain.documents import MARK
from server.json_response import json_bytes
from server.store.flows import FlowEntry, FlowNotStored, StoredFlow, VersionConflict

_ENTRY = (FlowRow.id, FlowRow.name, FlowRow.node_count, FlowRow.edge_count, FlowRow.version, FlowRow.updated_at)

_STORED = select(*_ENTRY, FlowRow.document).where(FlowRow.id == bindparam("flow"), FlowRow.owner == bindparam("user"))
_SHORT = 50_000
"""Characters of a document that are read quicker than a thread is woken for them."""


class SqlFlowStore:
    """The stored flows of one owner; those of others are not found.

    Args:
        database: where they are stored.
        owner: the id of the owner.
    """

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def add(self, flow: Flow) -> FlowEntry:
        """Store a flow under a new id, as version 1."""
        entry = _entry(str(uuid4()), flow, 1)
        new = insert(FlowRow).values(**entry.to_json(), owner=self._owner, document=await self._text(flow))
        async with self._database.writing() as connection:
            await connection.execute(new)
        return entry

    async def get(self, flow_id: str) -> StoredFlow:
        """The flow with this id."""
        async with self._database.reading() as connection:
            row = (await connection.execute(_STORED, {"flow": flow_id, "user": self._owner})).one_or_none()
        if row is None:
            raise FlowNotStored(flow_id)
        *entry, document = row
        short = len(document) <= _SHORT
        flow = self._flow(document) if short else await asyncio.to_thread(self._flow, document)
        return StoredFlow(entry=_stored_entry(entry), flow=flow)

    async def page(self, limit: int, offset: int) -> tuple[list[FlowEntry], int]:
        """Entries, last changed first, and how many there are in all."""
        mine = FlowRow.owner == self._owner
        newest = select(*_ENTRY).where(mine).order_by(FlowRow.updated_at.desc(), FlowRow.id)
        count = select(func.count()).select_from(FlowRow).where(mine)
        async with self._database.reading() as connection:
            rows = (await connection.execute(newest.limit(limit).offset(offset))).all()
            total = (await connection.execute(count)).scalar_one()
        return [_stored_entry(row) for row in rows], total

    async def replace(self, flow_id: str, flow: Flow, version: int) -> FlowEntry:
        """Store a flow as the revision after `version`."""
        entry = _entry(flow_id, flow, version + 1)
        change = (
            update(FlowRow)
            .where(*self._is(flow_id), FlowRow.version == version)
            .values(**entry.to_json(), document=await self._text(flow))
        )
        async with self._database.writing() as connection:
            if (await connection.execute(change)).rowcount:
                return entry
            found = await connection.execute(select(FlowRow.version).where(*self._is(flow_id)))
            current = found.scalar_one_or_none()
        if current is None:
            raise FlowNotStored(flow_id)
        raise VersionConflict(current)

    async def components_used(self, names: Collection[str]) -> set[str]:
        """Those of these component types that a stored flow uses, or at least mentions in quotes."""
        used: set[str] = set()
        async with self._database.reading() as connection:
            for name in names:
                mentions = FlowRow.document.contains(f'"{name}"', autoescape=True)
                found = select(FlowRow.id).where(FlowRow.owner == self._owner, mentions).limit(1)
                if (await connection.execute(found)).first() is not None:
                    used.add(name)
        return used

    async def remove(self, flow_id: str) -> None:
        """Remove the flow with this id."""
        async with self._database.writing() as connection:
            removed = (await connection.execute(delete(FlowRow).where(*self._is(flow_id)))).rowcount
        if not removed:
            raise FlowNotStored(flow_id)

    async def _text(self, flow: Flow) -> str:
        """A flow as it is stored: its keys are encrypted."""
        sealed = await asyncio.to_thread(self._database.documents.seal_keys, flow.raw)
        return json_bytes(sealed).decode()

    def _flow(self, document: str) -> Flow:
        stored = json.loads(document)
        return parsed_flow(self._database.documents.unseal_keys(stored) if f'"{MARK}"' in document else stored)

    def _is(self, flow_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return FlowRow.id == flow_id, FlowRow.owner == self._owner


def _entry(flow_id: str, flow: Flow, version: int) -> FlowEntry:
    return FlowEntry(
        id=flow_id,
        name=flow.name or "Untitled Flow",
        node_count=len(flow.nodes),
        edge_count=len(flow.edges),
        version=version,
        updated_at=datetime.now(UTC).isoformat(),
    )


def _stored_entry(columns: Sequence[Any]) -> FlowEntry:
    return FlowEntry(**dict(zip((column.key for column in _ENTRY), columns, strict=True)))
