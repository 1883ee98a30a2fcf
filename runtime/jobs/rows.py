"""The rows of jobs, as those see them who queue, read and cancel them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from sqlalchemy import ColumnElement, RowMapping, and_, delete, exists, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from flows.document import JsonObject
from runtime.database.backends.clock import DatabaseTime
from runtime.database.database import Database
from runtime.jobs.errors import JobGoesOn, JobHasEnded, JobNotFound, QueueFull, TurnNotRetried
from runtime.jobs.job import ENDED, QUEUED_LIMIT, RETRIED, Job, JobState, NewJob, RetriedState
from runtime.jobs.tables import JobRow, flow_name
from runtime.jobs.wake import notify

_FIELDS: Final = (
    JobRow.id, JobRow.owner, JobRow.kind, JobRow.queue, JobRow.rank, JobRow.state, JobRow.flow, JobRow.batch,
    JobRow.position, JobRow.worker, JobRow.attempts, JobRow.queued_at, JobRow.started_at, JobRow.ended_at,
    JobRow.error, JobRow.run, flow_name(JobRow),
)  # fmt: skip

_ADDED_AT_ONCE: Final = 500


@dataclass(frozen=True)
class EndedJob:
    """What came of a job of a batch.

    Attributes:
        position: its place in the batch.
        state: how it ended.
        result: what it gave; None if it gave nothing.
        error: why it failed; None if it did not.
    """

    position: int
    state: JobState
    result: JsonObject | None
    error: str | None


class Jobs:
    """Jobs by owner. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        limit: how many of a user may wait.
    """

    def __init__(self, database: Database, limit: int = QUEUED_LIMIT) -> None:
        self._database = database
        self._limit = limit

    async def add(self, jobs: Sequence[NewJob]) -> int:
        """Queue jobs of one owner and queue, in their order; one whose id is there already is left as it is.

        Users take turns: the first job of a user comes right after what is being done now, and each further one of the
        same user one place later, so that a hundred jobs of the one do not hold up the first one of another.

        Returns:
            How many were added.

        Raises:
            QueueFull: too many of the owner wait already; none is added.
            SecretKeyUnavailable: what they work on cannot be encrypted.
        """
        async with self._database.writing(*{job.owner for job in jobs}) as connection:
            return await self.add_within(connection, jobs)

    async def add_within(self, connection: AsyncConnection, jobs: Sequence[NewJob]) -> int:
        """Queue jobs as `add` does, in a transaction that is under way, which names their owner."""
        if not jobs:
            return 0
        first, ids = jobs[0], [job.id for job in jobs]
        there: set[str] = set()
        for some in _parts(ids):
            mine = and_(JobRow.owner == first.owner, JobRow.id.in_(some))
            there |= set((await connection.execute(select(JobRow.id).where(mine))).scalars())
        new = [job for job in jobs if job.id not in there]
        if not new:
            return 0
        waiting = and_(JobRow.owner == first.owner, JobRow.state == "queued")
        waits = (await connection.execute(select(func.count()).select_from(JobRow).where(waiting))).scalar_one()
        if waits + len(new) > self._limit:
            raise QueueFull(waits, self._limit)
        documents = await asyncio.to_thread(lambda: [self._sealed(job.given) for job in new])
        tags = count(await _next_tag(connection, first.owner, first.queue, first.rank))
        values = [_values(job, document, tag) for job, document, tag in zip(new, documents, tags, strict=False)]
        for some in _parts(values):
            await connection.execute(insert(JobRow).values(queued_at=DatabaseTime()), some)
        await notify(connection, first.queue)
        return len(new)

    async def get(self, owner: str, job: str) -> Job:
        """A job.

        Raises:
            JobNotFound: there is none of this id.
        """
        async with self._database.reading() as connection:
            row = (await connection.execute(select(*_FIELDS).where(_is(owner, job)))).mappings().one_or_none()
        if row is None:
            raise JobNotFound(job)
        return _job(row)

    async def result(self, owner: str, job: str) -> JsonObject | None:
        """What a job gave, if it has ended and gave anything.

        Raises:
            JobNotFound: there is none of this id.
            SecretKeyUnavailable: it was encrypted with another key.
        """
        async with self._database.reading() as connection:
            row = (await connection.execute(select(JobRow.result).where(_is(owner, job)))).one_or_none()
        if row is None:
            raise JobNotFound(job)
        return None if row.result is None else await asyncio.to_thread(self._opened, row.result)

    async def page(
        self, owner: str, limit: int, offset: int = 0, state: JobState | None = None, batch: str | None = ""
    ) -> tuple[list[Job], int]:
        """Jobs, latest first, and how many there are in all.

        Args:
            owner: whose they are.
            limit: how many at most.
            offset: how many come before them.
            state: how they stand; None for all.
            batch: the batch that they belong to; empty for those of none, None for all.
        """
        mine = JobRow.owner == owner
        if state is not None:
            mine = and_(mine, JobRow.state == state)
        if batch is not None:
            mine = and_(mine, JobRow.batch == batch)
        latest = select(*_FIELDS).where(mine).order_by(JobRow.number.desc()).limit(limit).offset(offset)
        async with self._database.reading() as connection:
            rows = (await connection.execute(latest)).mappings().all()
            total = (await connection.execute(select(func.count()).select_from(JobRow).where(mine))).scalar_one()
        return [_job(row) for row in rows], total

    async def cancel(self, owner: str, job: str) -> Job:
        """End a job: one that waits at once, one that goes on as soon as its worker sees it, in less than a second.

        Raises:
            JobNotFound: there is none of this id.
            JobHasEnded: it is over.
        """
        async with self._database.writing() as connection:
            count = await cancel_where(connection, _is(owner, job))
        found = await self.get(owner, job)
        if not count:
            raise JobHasEnded(found)
        return found

    async def retry(self, owner: str, job: str) -> Job:
        """Queue a job again that has failed or was cancelled, with all its tries.

        Raises:
            JobNotFound: there is none of this id.
            JobGoesOn: it waits, goes on, or is done.
            TurnNotRetried: it is a turn.
        """
        async with self._database.writing(owner) as connection:
            count = await retry_where(connection, owner, and_(_is(owner, job), JobRow.kind != "turn"))
        found = await self.get(owner, job)
        if not count:
            raise TurnNotRetried(found) if found.kind == "turn" and found.has_ended else JobGoesOn(found)
        return found

    async def ended(self, owner: str, batch: str, known: Collection[int] = (), limit: int = 50) -> list[EndedJob]:
        """What came of jobs of a batch that have ended, in the order of their places.

        Args:
            owner: whose they are.
            batch: what they belong to.
            known: the places of those that are not wanted.
            limit: how many at most.

        Raises:
            SecretKeyUnavailable: it was encrypted with another key.
        """
        over = and_(JobRow.owner == owner, JobRow.batch == batch, JobRow.state.in_(ENDED))
        async with self._database.reading() as connection:
            places = (await connection.execute(select(JobRow.position).where(over).order_by(JobRow.position))).scalars()
            wanted = [place for place in places if place not in known][:limit]
            if not wanted:
                return []
            fields = select(JobRow.position, JobRow.state, JobRow.result, JobRow.error)
            these = and_(over, JobRow.position.in_(wanted))
            rows = (await connection.execute(fields.where(these).order_by(JobRow.position))).all()
        return await asyncio.to_thread(lambda: [self._ended(row) for row in rows])

    async def cancel_batch(self, owner: str, batch: str) -> None:
        """End the jobs of a batch that have not ended."""
        async with self._database.writing(owner) as connection:
            await cancel_where(connection, and_(JobRow.owner == owner, JobRow.batch == batch))

    async def remove_batch(self, owner: str, batch: str) -> None:
        """Delete the jobs of a batch; those that go on end, and what comes of them is refused."""
        async with self._database.writing(owner) as connection:
            await connection.execute(delete(JobRow).where(JobRow.owner == owner, JobRow.batch == batch))
            await notify(connection, "stop")

    async def is_anything_left(self) -> bool:
        """Whether any job waits or goes on, of whomever."""
        left = exists().where(JobRow.state.in_(("queued", "running")))
        async with self._database.reading() as connection:
            return bool((await connection.execute(select(left))).scalar())

    async def remove_ended(self, seconds: float) -> int:
        """Delete the jobs of all owners that ended so many seconds ago, but the inputs of batches; returns how many."""
        old = and_(JobRow.state.in_(ENDED), JobRow.ended_at < DatabaseTime(seconds), JobRow.kind != "item")
        async with self._database.reading() as connection:
            if not (await connection.execute(select(exists().where(old)))).scalar():
                return 0
        async with self._database.writing() as connection:
            return (await connection.execute(delete(JobRow).where(old))).rowcount

    def _ended(self, row: Any) -> EndedJob:
        result = None if row.result is None else self._opened(row.result)
        return EndedJob(row.position, row.state, result, row.error)

    def _sealed(self, given: JsonObject) -> str:
        return self._database.documents.seal_text(json.dumps(given, ensure_ascii=False, separators=(",", ":")))

    def _opened(self, document: str) -> JsonObject:
        return json.loads(self._database.documents.unseal_text(document))


async def cancel_where(connection: AsyncConnection, which: ColumnElement[bool]) -> int:
    """End jobs, in a transaction that is under way; returns how many of them were not over."""
    waits = update(JobRow).where(which, JobRow.state == "queued")
    ended = await connection.execute(waits.values(state="cancelled", ended_at=DatabaseTime(), stop_asked=True))
    asked = await connection.execute(update(JobRow).where(which, JobRow.state == "running").values(stop_asked=True))
    if asked.rowcount:
        await notify(connection, "stop")
    return ended.rowcount + asked.rowcount


async def retry_where(
    connection: AsyncConnection, owner: str, which: ColumnElement[bool], states: Sequence[RetriedState] = RETRIED
) -> int:
    """Queue those of some jobs again that have failed or were cancelled; returns how many."""
    over = and_(which, JobRow.state.in_(states))
    wanted = select(JobRow.number, JobRow.queue, JobRow.rank).where(over).order_by(JobRow.position, JobRow.number)
    found = (await connection.execute(wanted)).all()
    if not found:
        return 0
    tags = count(await _next_tag(connection, owner, found[0].queue, found[0].rank))
    fresh = {
        "state": "queued",
        "worker": "",
        "attempts": 0,
        "spared": 0,
        "stop_asked": False,
        "error": None,
        "result": None,
    }
    for row, tag in zip(found, tags, strict=False):
        again = update(JobRow).where(JobRow.number == row.number)
        await connection.execute(
            again.values(**fresh, tag=tag, run="", queued_at=DatabaseTime(), started_at=None, ended_at=None)
        )
    await notify(connection, found[0].queue)
    return len(found)


async def _next_tag(connection: AsyncConnection, owner: str, queue: str, rank: int) -> int:
    """The place of an owner's next job: after the owner's last one, and after what is being done now.

    It is the start tag of self-clocked fair queueing (Golestani, INFOCOM 1994), with a job as the unit of work.
    """
    here = and_(JobRow.queue == queue, JobRow.rank == rank)
    own = select(func.max(JobRow.tag)).where(here, JobRow.owner == owner, JobRow.state == "queued").scalar_subquery()
    now = select(func.max(JobRow.tag)).where(here, JobRow.state == "running").scalar_subquery()
    first = select(func.min(JobRow.tag) - 1).where(here, JobRow.state == "queued").scalar_subquery()
    found = await connection.execute(select(func.coalesce(own, 0), func.coalesce(now, first, 0)))
    return max(*found.one()) + 1


def _values(job: NewJob, document: str, tag: int) -> dict[str, Any]:
    return {
        "owner": job.owner,
        "id": job.id,
        "kind": job.kind,
        "queue": job.queue,
        "state": "queued",
        "rank": job.rank,
        "tag": tag,
        "flow": job.flow,
        "batch": job.batch,
        "position": job.position,
        "worker": "",
        "attempts": 0,
        "spared": 0,
        "milliseconds": round(job.seconds * 1000),
        "stop_asked": False,
        "document": document,
        "run": "",
        "tokens": 0,
        "nano_dollars": 0,
    }


def _is(owner: str, job: str) -> ColumnElement[bool]:
    return and_(JobRow.owner == owner, JobRow.id == job)


def _job(row: RowMapping) -> Job:
    columns: dict[str, Any] = {str(name): value for name, value in row.items()}
    return Job(**columns)


def _parts(values: Collection[Any]) -> Iterable[list[Any]]:
    listed = list(values)
    return (listed[at : at + _ADDED_AT_ONCE] for at in range(0, len(listed), _ADDED_AT_ONCE))
