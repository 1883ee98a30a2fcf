"""The rows of jobs, as workers see them: they begin jobs, say what came of them, and give back those of the dead.

Whatever a worker says of a job is refused unless it still has that attempt of it, so that one that was frozen and
whose work was given to another changes nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Iterable, Sequence
from time import monotonic
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, case, func, or_, select, text, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from flows.document import JsonObject
from runtime.database.backends.clock import DatabaseTime
from runtime.database.database import Database
from runtime.database.runs import add_run
from runtime.durable.leases import LEASE_SECONDS, beat, is_gone, renew
from runtime.jobs.job import BATCH, PERSON, SPARED, TRIES, TURN_TRIES, Claim, Outcome, QueueName
from runtime.jobs.tables import JobRow
from runtime.jobs.wake import notify
from runtime.keychain.master_key import SecretKeyUnavailable
from runtime.usage.rows import add_usage

log = logging.getLogger(__name__)

POISON: Final = "The job was begun several times, and each time what worked on it ended without a result."
"""Why a job has failed whose workers died."""

STOPPED: Final = "cancelled"

LAST: Final = 2**31
"""A rank that no job comes after."""

ASIDE_SECONDS: Final = 15.0
"""How long a worker leaves a job to others that it could not do for a reason of its own."""

ASIDE_LIMIT: Final = 1_000
"""How many such jobs it remembers."""

_CLAIMING: Final = text("SELECT pg_advisory_xact_lock(22354, hashtext(current_schema()))")

_CLAIMED: Final = (
    JobRow.number, JobRow.attempts, JobRow.id, JobRow.owner, JobRow.kind, JobRow.flow, JobRow.batch, JobRow.position,
    JobRow.milliseconds, JobRow.document, JobRow.spared,
)  # fmt: skip


class Claims:
    """What one worker does with the rows of jobs. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        worker: names the worker among all.
        of_user: how many jobs of a user may go on at once, on all workers; None for any number.
        in_all: how many jobs may go on at once, on all workers; None for any number.
        lease: after how many seconds without a sign of life a worker is gone.
    """

    def __init__(
        self,
        database: Database,
        worker: str,
        *,
        of_user: int | None = None,
        in_all: int | None = None,
        lease: float = LEASE_SECONDS,
    ) -> None:
        self._database = database
        self._worker = worker
        self._of_user = of_user
        self._in_all = in_all
        self._lease = lease
        self._first = 0
        self._aside: dict[int, float] = {}
        self._given_up: list[Any] = []

    async def claim(self, queues: Sequence[QueueName], places: int) -> list[Claim]:
        """Begin the jobs that are next, as many as there are places.

        People's jobs go first, whatever the queue. Queues of the same rank take turns.
        """
        waiting = await self._waiting(queues)
        if not waiting:
            return []
        self._first += 1
        turn: list[QueueName] = [*queues[self._first % len(queues) :], *queues[: self._first % len(queues)]]
        people: list[QueueName] = [queue for queue in queues if waiting.get(queue, BATCH) <= PERSON]
        passes: Sequence[tuple[QueueName, int]] = [
            *((queue, PERSON) for queue in people),
            *((queue, LAST) for queue in turn if queue in waiting),
        ]
        rows: list[Any] = []
        async with self._database.writing() as connection:
            await renew(connection, self._worker, self._lease)
            places = await self._allowed(connection, places)
            for queue, rank in passes:
                while len(rows) < places:
                    found = await self._claim_next(connection, queue, rank, places - len(rows))
                    rows += found
                    if not found or self._of_user is None:
                        break
        return await self._readable(rows)

    async def _readable(self, rows: Sequence[Any]) -> list[Claim]:
        """The jobs that were begun; those that cannot be decrypted here are left to others."""
        claims: list[Claim] = []
        for row in rows:
            try:
                claims.append(await asyncio.to_thread(self._claim, row))
            except SecretKeyUnavailable as error:
                log.error("jobs.unreadable job=%s: %s %s", row.id, error.message, error.fix)
                await self.leave(_claim_of(row, {}))
        return claims

    async def leave(self, claim: Claim) -> None:
        """Give a job back that this worker cannot do now for a reason of its own, and leave it to others for a while.

        It does not count as a try.
        """
        while len(self._aside) >= ASIDE_LIMIT:
            self._aside.pop(next(iter(self._aside)))
        self._aside[claim.number] = monotonic() + ASIDE_SECONDS
        await self.give_back([claim], counted=False)

    def _left_to_others(self) -> list[int]:
        """The numbers of jobs that are left to other workers now."""
        now = monotonic()
        self._aside = {number: until for number, until in self._aside.items() if until > now}
        return list(self._aside)

    async def _waiting(self, queues: Sequence[QueueName]) -> dict[QueueName, int]:
        """The queues in which anything waits, and the lowest rank in each: it costs one look into an index."""
        lowest = [
            select(func.min(JobRow.rank)).where(JobRow.queue == queue, JobRow.state == "queued").scalar_subquery()
            for queue in queues
        ]
        async with self._database.reading() as connection:
            ranks = (await connection.execute(select(*lowest))).one()
        return {queue: rank for queue, rank in zip(queues, ranks, strict=True) if rank is not None}

    async def _allowed(self, connection: AsyncConnection, places: int) -> int:
        """How many jobs may be begun now. Where limits count what all workers do, one of them claims at a time."""
        if self._in_all is None and self._of_user is None:
            return places
        if connection.dialect.name == "postgresql":
            await connection.execute(_CLAIMING)
        if self._in_all is None:
            return places
        running = select(func.count()).select_from(JobRow).where(JobRow.state == "running")
        return min(places, self._in_all - (await connection.execute(running)).scalar_one())

    async def _claim_next(self, connection: AsyncConnection, queue: QueueName, rank: int, places: int) -> list[Any]:
        waits = and_(JobRow.queue == queue, JobRow.state == "queued", JobRow.rank <= rank)
        if left := self._left_to_others():
            waits = and_(waits, JobRow.number.not_in(left))
        next_ones = select(JobRow.number).where(waits)
        if self._of_user is not None:
            places = 1
            going_on = select(JobRow.owner).where(JobRow.state == "running").group_by(JobRow.owner)
            next_ones = next_ones.where(JobRow.owner.not_in(going_on.having(func.count() >= self._of_user)))
        in_order = next_ones.order_by(JobRow.rank, JobRow.tag, JobRow.number).limit(places)
        picked = in_order.with_for_update(skip_locked=True).cte("picked")
        begun = {"state": "running", "worker": self._worker, "attempts": JobRow.attempts + 1}
        claimed = update(JobRow).where(JobRow.number.in_(select(picked.c.number)))
        changed = claimed.values(**begun, started_at=DatabaseTime()).returning(*_CLAIMED)
        return list((await connection.execute(changed)).all())

    async def finish(self, claim: Claim, outcome: Outcome) -> bool:
        """Store what came of a job, with its run and usage; False, and nothing is, when this worker lost it."""
        failed = outcome.error is not None
        values = {
            "state": case((JobRow.stop_asked, STOPPED), else_="failed") if failed else "done",
            "result": None if outcome.result is None else await asyncio.to_thread(self._sealed, outcome),
            "error": outcome.error,
            "run": "" if outcome.run is None else outcome.run.entry.id,
            "tokens": outcome.tokens,
            "nano_dollars": outcome.nano_dollars,
        }
        async with self._database.writing() as connection:
            ended = update(JobRow).where(self._mine(claim)).values(**values, ended_at=DatabaseTime())
            if not (await connection.execute(ended)).rowcount:
                return False
            if outcome.run is not None:
                await add_run(connection, outcome.run)
            await add_usage(connection, outcome.used)
        return True

    async def cancelled(self, claim: Claim) -> bool:
        """Note that a job was ended because someone asked for it; False when this worker has it no longer."""
        async with self._database.writing() as connection:
            ended = update(JobRow).where(self._mine(claim)).values(state="cancelled", ended_at=DatabaseTime())
            return bool((await connection.execute(ended)).rowcount)

    async def give_back(self, claims: Collection[Claim], *, counted: bool) -> None:
        """Give jobs back to their queues at once.

        Args:
            claims: the jobs.
            counted: whether this was a try.
        """
        tries = TRIES if counted else TRIES + 1
        async with self._database.writing() as connection:
            for claim in claims:
                await connection.execute(
                    update(JobRow).where(self._mine(claim)).values(_returned(tries, uncounted=not counted))
                )
            if claims:
                await notify(connection, "given back")

    async def spare(self, claims: Iterable[Claim]) -> None:
        """Let attempts not count that were given to others because this worker was late, and not dead.

        So many of a job may be spared, since it may be the job that halts its workers.
        """
        for claim in claims:
            lost = and_(JobRow.number == claim.number, JobRow.attempts >= claim.attempt, _spared() < SPARED)
            waits_or_goes_on = and_(JobRow.state.in_(("queued", "running")), ~self._mine(claim))
            async with self._database.writing() as connection:
                await connection.execute(update(JobRow).where(lost, waits_or_goes_on).values(spared=_spared() + 1))

    async def give_back_own(self) -> int:
        """Give back what an earlier process of this worker's name has left; returns how many."""
        return await self._reap(JobRow.worker == self._worker)

    async def beat(self, queues: Sequence[QueueName] | None = None, *, reaps: bool = True) -> int:
        """Note that this worker is there, and give back the jobs of those that are gone; returns how many.

        Args:
            queues: the queues that it takes jobs from; None leaves what is noted.
            reaps: whether jobs are given back.
        """
        lost = and_(JobRow.state == "running", is_gone(JobRow.worker, self._lease))
        async with self._database.writing() as connection:
            await beat(connection, self._worker, queues)
            if not reaps:
                return 0
            if (await connection.execute(select(JobRow.number).where(lost).limit(1))).first() is None:
                return 0
            returned = await _given_back(connection, lost)
        return self._noted(returned)

    async def _reap(self, which: ColumnElement[bool]) -> int:
        lost = and_(JobRow.state == "running", which)
        async with self._database.reading() as connection:
            if (await connection.execute(select(JobRow.number).where(lost).limit(1))).first() is None:
                return 0
        async with self._database.writing() as connection:
            returned = await _given_back(connection, lost)
        return self._noted(returned)

    def _noted(self, returned: Sequence[Any]) -> int:
        """Remember those of some jobs that nobody works on that have failed; returns how many they are in all."""
        self._given_up += [row for row in returned if row.state == "failed"]
        return len(returned)

    async def given_up(self) -> list[Claim]:
        """The jobs that this worker found to have ended too many workers, each once."""
        rows, self._given_up = self._given_up, []
        found: list[Claim] = []
        for row in rows:
            try:
                found.append(await asyncio.to_thread(self._claim, row))
            except SecretKeyUnavailable as error:
                log.error("jobs.unreadable job=%s: %s %s", row.id, error.message, error.fix)
        return found

    async def left(self, claims: Iterable[Claim]) -> dict[int, bool]:
        """The numbers of those of some jobs that this worker still has, and whether each is to be ended."""
        keys = [(claim.number, claim.attempt) for claim in claims]
        mine = and_(JobRow.state == "running", JobRow.worker == self._worker)
        wanted = select(JobRow.number, JobRow.stop_asked).where(mine)
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted.where(tuple_(JobRow.number, JobRow.attempts).in_(keys)))
            return {row.number: bool(row.stop_asked) for row in rows}

    def _mine(self, claim: Claim) -> ColumnElement[bool]:
        this = and_(JobRow.number == claim.number, JobRow.attempts == claim.attempt)
        return and_(this, JobRow.worker == self._worker, JobRow.state == "running")

    def _claim(self, row: Any) -> Claim:
        return _claim_of(row, json.loads(self._database.documents.unseal_text(row.document)))

    def _sealed(self, outcome: Outcome) -> str:
        return self._database.documents.seal_text(json.dumps(outcome.result, ensure_ascii=False, separators=(",", ":")))


def _claim_of(row: Any, given: JsonObject) -> Claim:
    return Claim(
        number=row.number, attempt=row.attempts, id=row.id, owner=row.owner, kind=row.kind, flow=row.flow,
        batch=row.batch, position=row.position, seconds=row.milliseconds / 1000, given=given,
        spared=row.spared or 0,
    )  # fmt: skip


async def _given_back(connection: AsyncConnection, lost: ColumnElement[bool]) -> Sequence[Any]:
    """Give back jobs that are lost, in a transaction that is under way; returns their rows as they are then."""
    returned = update(JobRow).where(lost).values(_returned(TRIES)).returning(*_CLAIMED, JobRow.state)
    rows = (await connection.execute(returned)).all()
    if rows:
        await notify(connection, "given back")
    return rows


def _spared() -> ColumnElement[Any]:
    return func.coalesce(JobRow.spared, 0)


def _returned(tries: int, *, uncounted: bool = False) -> dict[str, Any]:
    """How a running job stands once nobody works on it: it waits again, unless it is to be ended or was tried often."""
    often = case((JobRow.kind == "turn", TURN_TRIES), else_=tries)
    spent = and_(JobRow.attempts - _spared() >= often, ~JobRow.stop_asked)
    over = or_(spent, JobRow.stop_asked)
    return {
        "state": case((JobRow.stop_asked, STOPPED), (spent, "failed"), else_="queued"),
        "error": case((spent, POISON), else_=None),
        "ended_at": case((over, DatabaseTime()), else_=None),
        "worker": case((over, JobRow.worker), else_=""),
        "attempts": JobRow.attempts - 1 if uncounted else JobRow.attempts,
    }
