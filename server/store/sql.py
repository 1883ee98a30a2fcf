"""Flows in an SQL database, with their keys encrypted."""

import asyncio
import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from unicodedata import normalize
from uuid import uuid4

from sqlalchemy import ColumnElement, Insert, bindparam, delete, func, insert, select, update

from flows.document import Flow, parsed_flow
from flows.edits.updates import engine_codes
from runtime.database.backends.once import note_once
from runtime.database.database import Database
from runtime.database.tables import FlowRow, RevisionRow
from runtime.keychain.documents import MARK
from server.json_response import json_bytes
from server.store.changes import FlowChanges
from server.store.flows import (
    CLIENT,
    KEPT_REVISIONS,
    Author,
    FlowEntry,
    FlowNotStored,
    Revision,
    RevisionNotKept,
    StoredFlow,
    TooManyFlows,
    VersionConflict,
)

_ENTRY = (FlowRow.id, FlowRow.name, FlowRow.node_count, FlowRow.edge_count, FlowRow.version, FlowRow.updated_at)
_REVISION = (
    RevisionRow.version,
    RevisionRow.at,
    RevisionRow.author,
    RevisionRow.session,
    RevisionRow.turn,
    RevisionRow.name,
    RevisionRow.node_count,
    RevisionRow.edge_count,
)

_STORED = select(*_ENTRY, FlowRow.document).where(FlowRow.id == bindparam("flow"), FlowRow.owner == bindparam("user"))
_SMALL = (
    "SELECT id, name, node_count, edge_count, version, updated_at, document FROM flows "
    "WHERE id = ? AND owner = ? AND node_count <= 12"
)
"""The same for a flow whose document is read quicker than a thread is woken for it."""

_SHORT = 50_000
"""Characters of a document that are read quicker than a thread is woken for them."""

_PARSED = 16
"""Short flows that stay parsed: what is run again and again is neither parsed nor checked each time."""


@lru_cache(maxsize=_PARSED)
def _short_flow(document: str) -> Flow:
    """The flow of a short document without keys; for the same text, the same flow, which nobody changes."""
    return parsed_flow(json.loads(document))


class SqlFlowStore:
    """The stored flows of one owner; those of others are not found.

    Args:
        database: where they are stored.
        owner: the id of the owner.
        limit: how many the owner may have; None for any number.
        changes: is told of every change; None for nobody.
    """

    def __init__(
        self, database: Database, owner: str, limit: int | None = None, changes: FlowChanges | None = None
    ) -> None:
        self._database = database
        self._owner = owner
        self._limit = limit
        self._changes = changes or FlowChanges()

    async def add(self, flow: Flow, author: Author = CLIENT) -> FlowEntry:
        """Store a flow under a new id, as version 1."""
        (entry,) = await self.add_all([flow], author)
        return entry

    async def add_all(self, flows: Sequence[Flow], author: Author = CLIENT) -> list[FlowEntry]:
        """Store flows as `add` does: all of them or none."""
        added = [(_entry(str(uuid4()), flow, 1), await self._text(flow), _codes(flow)) for flow in flows]
        counted = () if self._limit is None else (self._owner,)
        async with self._database.writing(*counted) as connection:
            for entry, document, codes in added:
                stored = {**entry.to_json(), "owner": self._owner, "document": document, "built_with": codes}
                await connection.execute(insert(FlowRow).values(**stored))
                await connection.execute(self._revision(entry, document, author))
            if self._limit is not None:  # counted after writing, when no other process writes for this owner
                mine = select(func.count()).select_from(FlowRow).where(FlowRow.owner == self._owner)
                if (await connection.execute(mine)).scalar_one() > self._limit:
                    raise TooManyFlows(self._limit)
        for entry, _, _ in added:
            self._changes.tell(self._owner, entry.id, entry.version, listed=True)
        return [entry for entry, _, _ in added]

    async def get(self, flow_id: str) -> StoredFlow:
        """The flow with this id."""
        rows: Sequence[Sequence[Any]] | None = self._database.read_at_once(_SMALL, (flow_id, self._owner))
        if not rows:
            async with self._database.reading() as connection:
                rows = (await connection.execute(_STORED, {"flow": flow_id, "user": self._owner})).all()
        if not rows:
            raise FlowNotStored(flow_id)
        *entry, document = rows[0]
        if len(document) > _SHORT:
            flow = await asyncio.to_thread(self._flow, document)
        else:
            flow = self._flow(document) if _has_keys(document) else _short_flow(document)
        return StoredFlow(entry=_stored_entry(entry), flow=flow)

    async def page(self, limit: int, offset: int, text: str = "") -> tuple[list[FlowEntry], int]:
        """Entries, last changed first, and how many there are in all; of those whose names contain a text."""
        mine = FlowRow.owner == self._owner
        newest = select(*_ENTRY).where(mine).order_by(FlowRow.updated_at.desc(), FlowRow.id)
        count = select(func.count()).select_from(FlowRow).where(mine)
        async with self._database.reading() as connection:
            if text:
                found = [row for row in await connection.execute(newest) if _contains(row.name, text)]
                return [_stored_entry(row) for row in found[offset : offset + limit]], len(found)
            rows = (await connection.execute(newest.limit(limit).offset(offset))).all()
            total = (await connection.execute(count)).scalar_one()
        return [_stored_entry(row) for row in rows], total

    async def replace(self, flow_id: str, flow: Flow, version: int, author: Author = CLIENT) -> FlowEntry:
        """Store a flow as the revision after `version`."""
        entry, document = _entry(flow_id, flow, version + 1), await self._text(flow)
        change = (
            update(FlowRow)
            .where(*self._is(flow_id), FlowRow.version == version)
            .values(**entry.to_json(), document=document, built_with=_codes(flow))
        )
        async with self._database.writing() as connection:
            current: int | None = None
            replaced = bool((await connection.execute(change)).rowcount)
            if replaced:
                await note_once(connection)
                await connection.execute(self._revision(entry, document, author))
                too_old = RevisionRow.version <= entry.version - KEPT_REVISIONS
                await connection.execute(delete(RevisionRow).where(*self._of(flow_id), too_old))
            else:
                found = await connection.execute(select(FlowRow.version).where(*self._is(flow_id)))
                current = found.scalar_one_or_none()
        if replaced:
            self._changes.tell(self._owner, flow_id, entry.version, listed=True)
            return entry
        if current is None:
            raise FlowNotStored(flow_id)
        raise VersionConflict(current)

    async def revisions(self, flow_id: str) -> list[Revision]:
        """The versions of a flow that are kept, latest first."""
        kept = select(*_REVISION).where(*self._of(flow_id)).order_by(RevisionRow.version.desc())
        async with self._database.reading() as connection:
            rows = (await connection.execute(kept)).all()
        if not rows:
            raise FlowNotStored(flow_id)
        return [_stored_revision(row) for row in rows]

    async def at_version(self, flow_id: str, version: int) -> tuple[Revision, Flow]:
        """A flow as it was at a version."""
        wanted = select(*_REVISION, RevisionRow.document).where(*self._of(flow_id), RevisionRow.version == version)
        exists = select(FlowRow.id).where(*self._is(flow_id))
        async with self._database.reading() as connection:
            row = (await connection.execute(wanted)).one_or_none()
            if row is None and (await connection.execute(exists)).one_or_none() is None:
                raise FlowNotStored(flow_id)
        if row is None:
            raise RevisionNotKept(flow_id, version)
        *revision, document = row
        return _stored_revision(revision), await asyncio.to_thread(self._flow, document)

    async def engine_codes(self, text: str = "") -> list[tuple[FlowEntry, dict[str, list[str]]]]:
        """The entries of flows, last changed first, each with the hashes of the engine's own code in it, by type."""
        mine = FlowRow.owner == self._owner
        newest = select(*_ENTRY, FlowRow.built_with).where(mine).order_by(FlowRow.updated_at.desc(), FlowRow.id)
        async with self._database.reading() as connection:
            rows = [row for row in await connection.execute(newest) if _contains(row.name, text)]
        found: list[tuple[FlowEntry, dict[str, list[str]]]] = []
        for *columns, codes in rows:
            entry = _stored_entry(columns)
            if codes is None:  # stored before the hashes were noted
                codes = _codes((await self.get(entry.id)).flow)
            found.append((entry, json.loads(codes)))
        return found

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
            await connection.execute(delete(RevisionRow).where(*self._of(flow_id)))
        if not removed:
            raise FlowNotStored(flow_id)
        self._changes.tell(self._owner, flow_id, None, listed=True)

    async def _text(self, flow: Flow) -> str:
        """A flow as it is stored: its keys are encrypted."""
        sealed = await asyncio.to_thread(self._database.documents.seal_keys, flow.raw)
        return json_bytes(sealed).decode()

    def _flow(self, document: str) -> Flow:
        stored = json.loads(document)
        return parsed_flow(self._database.documents.unseal_keys(stored) if _has_keys(document) else stored)

    def _revision(self, entry: FlowEntry, document: str, author: Author) -> Insert:
        """The statement that keeps a version of a flow."""
        return insert(RevisionRow).values(
            owner=self._owner,
            flow=entry.id,
            version=entry.version,
            at=entry.updated_at,
            author=author.kind,
            session=author.session,
            turn=author.turn,
            name=entry.name,
            node_count=entry.node_count,
            edge_count=entry.edge_count,
            document=document,
        )

    def _of(self, flow_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return RevisionRow.flow == flow_id, RevisionRow.owner == self._owner

    def _is(self, flow_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return FlowRow.id == flow_id, FlowRow.owner == self._owner


def _has_keys(document: str) -> bool:
    """Whether a stored document has encrypted keys."""
    return f'"{MARK}"' in document


def _contains(name: str, text: str) -> bool:
    """Whether a text stands in a name, in any case and Unicode form: databases fold letters by their own language."""
    return _folded(text) in _folded(name)


def _folded(text: str) -> str:
    return normalize("NFC", text).casefold()


def _entry(flow_id: str, flow: Flow, version: int) -> FlowEntry:
    return FlowEntry(
        id=flow_id,
        name=flow.name or "Untitled Flow",
        node_count=len(flow.nodes),
        edge_count=len(flow.edges),
        version=version,
        updated_at=datetime.now(UTC).isoformat(),
    )


def _codes(flow: Flow) -> str:
    return json.dumps(engine_codes(flow), separators=(",", ":"))


def _stored_revision(columns: Sequence[Any]) -> Revision:
    return Revision(**dict(zip((column.key for column in _REVISION), columns, strict=True)))


def _stored_entry(columns: Sequence[Any]) -> FlowEntry:
    return FlowEntry(**dict(zip((column.key for column in _ENTRY), columns, strict=True)))
