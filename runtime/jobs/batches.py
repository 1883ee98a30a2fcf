"""Batches: many inputs for one flow, each of which is a job."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import and_, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from flows.document import Json, JsonObject
from runtime.database.backends.clock import DatabaseTime
from runtime.database.database import Database
from runtime.jobs.content import KEY, digest_of
from runtime.jobs.errors import BatchNotFound, IdReused
from runtime.jobs.job import BATCH, ENDED, QUEUED_LIMIT, RETRIED, NewJob, RetriedState
from runtime.jobs.rows import Jobs, cancel_where, retry_where
from runtime.jobs.tables import BatchRow, JobRow

CEILING: Final = "The batch has used as many tokens as it may."
"""Why the rest of a batch was not run."""

CANCELLED: Final = "The batch was cancelled."


@dataclass(frozen=True, kw_only=True)
class NewBatch:
    """A batch that is to be begun.

    Attributes:
        id: unique for its owner; a second one of the same id is the first one.
        owner: whose it is.
        flow: the stored flow.
        version: its version.
        name: its name.
        ceiling_tokens: how many tokens it may use; None for any number.
        given: the flow and the options of its runs, as `flow` and `options`.
        inputs: what each run is given, or a part of that.
        seconds: how long each may take.
        first: the position of the first of these inputs.
        total: how many inputs the batch has in all its parts; None for those that are given.
    """

    id: str
    owner: str
    flow: str
    version: int
    name: str
    ceiling_tokens: int | None
    given: JsonObject
    inputs: Sequence[JsonObject]
    seconds: float
    first: int = 0
    total: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether these are all of its inputs."""
        return self.total in (None, len(self.inputs))


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A batch as it stands.

    Attributes:
        id: unique for its owner.
        flow: the stored flow.
        version: its version when the batch began.
        name: the flow's name then.
        total: how many inputs there are.
        counts: how many of them are in each state.
        tokens: how many tokens were used.
        ceiling_tokens: how many it may use; null for any number.
        reason: why it was ended early, or empty.
        created_at: when it began, ISO 8601 in UTC.
        ended: whether nothing more comes of it: all of its inputs have come and ended, or it was ended early.
    """

    id: str
    flow: str
    version: int
    name: str
    total: int
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    tokens: int = 0
    ceiling_tokens: int | None = None
    reason: str = ""
    created_at: str = ""
    ended: bool = False


@dataclass(frozen=True, kw_only=True)
class ItemResult:
    """What came of one input of a batch.

    Attributes:
        position: its place among the inputs, from 0.
        state: how it stands.
        result: what the run gave; null if it gave nothing.
        error: why it failed; null if it did not.
        attempts: how often it was begun.
    """

    position: int
    state: str
    result: JsonObject | None
    error: str | None
    attempts: int


class Batches:
    """Batches by owner. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        limit: how many jobs of a user may wait.
    """

    def __init__(self, database: Database, limit: int = QUEUED_LIMIT) -> None:
        self._database = database
        self._jobs = Jobs(database, limit)

    async def start(self, batch: NewBatch) -> Batch:
        """Begin a batch, whose inputs are queued in one transaction; one whose id is there already is that one.

        It is that one only for the same flow, options and inputs. The flow may have changed meanwhile, and the ceiling
        may be another one: the batch keeps those that it began with. Its inputs may come in several parts, in any
        order and as often as wanted: those that are there already are left as they are. Parts of a batch that was ended
        early are not run.

        Raises:
            IdReused: the id names a batch of another flow, of other options or of other inputs.
            QueueFull: too many jobs of the owner wait already.
            SecretKeyUnavailable: it cannot be encrypted.
        """
        content = digest_of(batch.flow, batch.given["options"], list(batch.inputs)) if batch.is_whole else None
        kept = batch.given if content is None else {**batch.given, KEY: content}
        document = await asyncio.to_thread(self._sealed, kept)
        items = [
            NewJob(
                id=f"{batch.id}.{position}",
                owner=batch.owner,
                kind="item",
                queue="runs",
                rank=BATCH,
                flow=batch.flow,
                batch=batch.id,
                position=position,
                seconds=batch.seconds,
                given=given,
            )
            for position, given in enumerate(batch.inputs, batch.first)
        ]
        async with self._database.writing(batch.owner) as connection:
            mine = and_(BatchRow.owner == batch.owner, BatchRow.id == batch.id)
            known = select(BatchRow.flow, BatchRow.document, BatchRow.total, BatchRow.reason).where(mine)
            there = (await connection.execute(known)).one_or_none()
            if there is None:
                await connection.execute(
                    insert(BatchRow).values(
                        owner=batch.owner,
                        id=batch.id,
                        flow=batch.flow,
                        version=batch.version,
                        name=batch.name,
                        total=batch.total or len(items),
                        reason="",
                        ceiling_tokens=batch.ceiling_tokens,
                        created_at=DatabaseTime(),
                        document=document,
                    )
                )
            else:
                await self._check_same(connection, batch, content, there)
            added = await self._jobs.add_within(connection, items)
            if there is not None and there.reason and added:
                await cancel_where(connection, and_(JobRow.owner == batch.owner, JobRow.batch == batch.id))
        return await self.get(batch.owner, batch.id)

    async def _check_same(self, connection: AsyncConnection, batch: NewBatch, content: str | None, there: Any) -> None:
        """Refuse inputs that are not of the batch which has their id.

        Raises:
            IdReused: they are of another flow, or they or their options are others.
        """
        if there.flow != batch.flow:
            raise IdReused("batch", batch.id, "one of another flow")
        stored = await asyncio.to_thread(self._opened, there.document)
        other = IdReused("batch", batch.id, "one with other inputs or options")
        if content is not None and KEY in stored:
            if stored[KEY] != content:
                raise other
            return
        if stored["options"] != batch.given["options"] or there.total != (batch.total or len(batch.inputs)):
            raise other
        here = JobRow.position.between(batch.first, batch.first + len(batch.inputs) - 1)
        wanted = select(JobRow.position, JobRow.document)
        mine = and_(JobRow.owner == batch.owner, JobRow.batch == batch.id, here)
        known = (await connection.execute(wanted.where(mine))).all()
        if not await asyncio.to_thread(self._are_inputs, batch, known):
            raise other

    async def get(self, owner: str, batch: str) -> Batch:
        """A batch as it stands.

        Raises:
            BatchNotFound: there is none of this id.
        """
        async with self._database.reading() as connection:
            wanted = select(*_FIELDS).where(BatchRow.owner == owner, BatchRow.id == batch)
            row = (await connection.execute(wanted)).one_or_none()
            if row is None:
                raise BatchNotFound(batch)
            return await _batch(connection, owner, row)

    async def page(self, owner: str, limit: int, offset: int = 0) -> tuple[list[Batch], int]:
        """Batches, latest first, and how many there are in all."""
        latest = select(*_FIELDS).where(BatchRow.owner == owner).order_by(BatchRow.number.desc())
        async with self._database.reading() as connection:
            rows = (await connection.execute(latest.limit(limit).offset(offset))).all()
            count = select(func.count()).select_from(BatchRow).where(BatchRow.owner == owner)
            total = (await connection.execute(count)).scalar_one()
            return [await _batch(connection, owner, row) for row in rows], total

    async def given(self, owner: str, batch: str) -> JsonObject:
        """The flow and the options of a batch.

        Raises:
            BatchNotFound: there is none of this id.
            SecretKeyUnavailable: it was encrypted with another key.
        """
        async with self._database.reading() as connection:
            wanted = select(BatchRow.document).where(BatchRow.owner == owner, BatchRow.id == batch)
            document = (await connection.execute(wanted)).scalar_one_or_none()
        if document is None:
            raise BatchNotFound(batch)
        return await asyncio.to_thread(self._opened, document)

    async def results(self, owner: str, batch: str, after: int = -1, limit: int = 200) -> list[ItemResult]:
        """What came of the inputs, in their order.

        Args:
            owner: whose batch it is.
            batch: its id.
            after: the position of the last input that is known.
            limit: how many at most.

        Raises:
            SecretKeyUnavailable: they were encrypted with another key.
        """
        fields = (JobRow.position, JobRow.state, JobRow.result, JobRow.error, JobRow.attempts)
        wanted = select(*fields).where(JobRow.owner == owner, JobRow.batch == batch, JobRow.position > after)
        async with self._database.reading() as connection:
            rows = (await connection.execute(wanted.order_by(JobRow.position).limit(limit))).all()
        return await asyncio.to_thread(lambda: [self._item(row) for row in rows])

    async def cancel(self, owner: str, batch: str, reason: str = CANCELLED) -> Batch:
        """End a batch early: what waits at once, what goes on as soon as its worker sees it.

        Raises:
            BatchNotFound: there is none of this id.
        """
        mine = and_(JobRow.owner == owner, JobRow.batch == batch)
        there = select(func.count()).select_from(JobRow).where(mine).scalar_subquery()
        async with self._database.writing(owner) as connection:
            this = update(BatchRow).where(BatchRow.owner == owner, BatchRow.id == batch)
            if not await cancel_where(connection, mine):
                this = this.where(BatchRow.total > there, BatchRow.reason == "")  # parts of it have not come
            await connection.execute(this.values(reason=reason))
        return await self.get(owner, batch)

    async def retry(
        self,
        owner: str,
        batch: str,
        ceiling_tokens: int | None = None,
        states: Sequence[RetriedState] = RETRIED,
    ) -> Batch:
        """Queue again what has failed or was cancelled, and nothing else.

        Args:
            owner: whose batch it is.
            batch: its id.
            ceiling_tokens: how many tokens it may use in all from now on; None leaves what it may.
            states: whether those that have failed are queued again, those that were cancelled, or both.

        Raises:
            BatchNotFound: there is none of this id.
        """
        mine = and_(JobRow.owner == owner, JobRow.batch == batch)
        async with self._database.writing(owner) as connection:
            if await retry_where(connection, owner, mine, states):
                this = update(BatchRow).where(BatchRow.owner == owner, BatchRow.id == batch)
                more = {} if ceiling_tokens is None else {"ceiling_tokens": ceiling_tokens}
                await connection.execute(this.values(reason="", **more))
        return await self.get(owner, batch)

    async def remove(self, owner: str, batch: str) -> Batch:
        """Delete a batch with its results; returns it as it was.

        Raises:
            BatchNotFound: there is none of this id.
        """
        found = await self.get(owner, batch)
        async with self._database.writing(owner) as connection:
            await connection.execute(delete(JobRow).where(JobRow.owner == owner, JobRow.batch == batch))
            await connection.execute(delete(BatchRow).where(BatchRow.owner == owner, BatchRow.id == batch))
        return found

    async def is_spent(self, owner: str, batch: str) -> bool:
        """Whether a batch has used as many tokens as it may; what is left of it is ended then."""
        wanted = select(BatchRow.ceiling_tokens).where(BatchRow.owner == owner, BatchRow.id == batch)
        used = select(func.coalesce(func.sum(JobRow.tokens), 0)).where(JobRow.owner == owner, JobRow.batch == batch)
        async with self._database.reading() as connection:
            ceiling = (await connection.execute(wanted)).scalar_one_or_none()
            if ceiling is None or (await connection.execute(used)).scalar_one() < ceiling:
                return False
        await self.cancel(owner, batch, CEILING)
        return True

    async def remove_ended(self, seconds: float) -> int:
        """Delete the batches of all owners whose last input ended so many seconds ago; returns how many."""
        recent = select(JobRow.number).where(
            JobRow.owner == BatchRow.owner,
            JobRow.batch == BatchRow.id,
            JobRow.state.not_in(ENDED) | (JobRow.ended_at >= DatabaseTime(seconds)),
        )
        old = and_(BatchRow.created_at < DatabaseTime(seconds), ~recent.exists())
        async with self._database.reading() as connection:
            rows = (await connection.execute(select(BatchRow.owner, BatchRow.id).where(old))).all()
        for owner, batch in rows:
            await self.remove(owner, batch)
        return len(rows)

    def _are_inputs(self, batch: NewBatch, rows: Sequence[Any]) -> bool:
        """Whether what is stored at some positions are the inputs of a batch there."""
        return all(bool(self._opened(row.document) == batch.inputs[int(row.position) - batch.first]) for row in rows)

    def _item(self, row: Any) -> ItemResult:
        result = None if row.result is None else self._opened(row.result)
        return ItemResult(position=row.position, state=row.state, result=result, error=row.error, attempts=row.attempts)

    def _sealed(self, given: JsonObject) -> str:
        return self._database.documents.seal_text(json.dumps(given, ensure_ascii=False, separators=(",", ":")))

    def _opened(self, document: str) -> dict[str, Json]:
        return json.loads(self._database.documents.unseal_text(document))


_FIELDS: Final = (
    BatchRow.id, BatchRow.flow, BatchRow.version, BatchRow.name, BatchRow.total, BatchRow.ceiling_tokens,
    BatchRow.reason, BatchRow.created_at,
)  # fmt: skip


async def _batch(connection: AsyncConnection, owner: str, row: Any) -> Batch:
    mine = and_(JobRow.owner == owner, JobRow.batch == row.id)
    by_state = select(JobRow.state, func.count(), func.sum(JobRow.tokens)).where(mine).group_by(JobRow.state)
    found = (await connection.execute(by_state)).all()
    counts = {state: count for state, count, _ in sorted(found)}
    has_all = sum(counts.values()) >= row.total or row.reason != ""
    return Batch(
        **row._mapping,
        counts=counts,
        tokens=int(sum(tokens for _, _, tokens in found)),
        ended=has_all and not counts.keys() & {"queued", "running"},
    )
