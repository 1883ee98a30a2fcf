"""Turns that wait in a queue for a worker: each is a job, and a row of `turns` that no server has yet."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, exists, insert, not_, or_, select, true, update

from agent.contract.endings import cancelled, failed
from agent.errors import TurnError
from runtime.database.backends.clock import DatabaseTime
from runtime.database.backends.insertion import insert_for
from runtime.database.database import Database
from runtime.database.tables import TurnEventsRow, TurnRow
from runtime.jobs.job import NewJob
from runtime.jobs.rows import Jobs, cancel_where
from runtime.jobs.tables import JobRow
from runtime.jobs.wake import TURNS, notify
from server.durable.queued import TURN_JOB
from server.json_response import json_bytes
from server.store.followed import FOLLOWED
from server.store.news import News, Place
from server.store.sessions import session_digest, turn_name
from server.store.turn_rows import KNOWN_SECONDS, READ_ROWS
from server.store.turns import AT_ONCE, RUNNING, UNSTORED, SteadyClock, StoredTurn

NOBODY: Final = ""
"""The server of a turn that waits."""

UNTAKEN: Final = "The turn was ended before a worker had taken it."


class _TurnExists(Exception):
    """The owner has a turn of this id; nothing is stored."""


def waits() -> ColumnElement[bool]:
    """Whether a turn waits for a worker."""
    return and_(TurnRow.state == RUNNING, TurnRow.server == NOBODY, TurnRow.attempt.is_not(None))


def is_forgotten() -> ColumnElement[bool]:
    """Whether a turn waits whose job was cancelled, has failed or is gone, so that nobody will take it."""
    its_job = and_(JobRow.owner == TurnRow.owner, JobRow.id == TURN_JOB + TurnRow.id)
    return and_(waits(), not_(exists().where(its_job, JobRow.state.in_(("queued", "running")))))


class QueuedTurns:
    """Turns that wait. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        clock: the time.
        limit: how many jobs of a user may wait.
        kept: how many seconds events are kept after the end of their turn.
    """

    def __init__(self, database: Database, clock: SteadyClock, limit: int, kept: float = KNOWN_SECONDS) -> None:
        self._kept = kept
        self._database = database
        self._clock = clock
        self._jobs = Jobs(database, limit)

    async def add(self, session: str, turn: str, job: NewJob) -> bool:
        """Queue a turn; False, and nothing is stored, when its owner has one of this id.

        Args:
            session: its conversation.
            turn: its id.
            job: takes it.

        Raises:
            QueueFull: too many jobs of the owner wait.
            SecretKeyUnavailable: what it is begun with cannot be encrypted.
        """
        row = {
            "owner": job.owner,
            "id": turn,
            "session": session_digest(session),
            "server": NOBODY,
            "state": RUNNING,
            "last": 0,
            "started_at": DatabaseTime(),  # which servers whose clocks differ agree about
            "ended_at": None,
            "attempt": 0,
        }
        try:
            async with self._database.writing(job.owner) as connection:
                await self._jobs.add_within(connection, [job])
                new = insert_for(connection.dialect, TurnRow).values(row).on_conflict_do_nothing()
                if (await connection.execute(new.returning(TurnRow.id))).first() is None:
                    raise _TurnExists
        except _TurnExists:
            return False
        return True

    async def take(self, owner: str, turn: str, server: str, *, waiting: bool | None = None) -> int | None:
        """Take a turn that waits; the number of the attempt, or None when it waits no more, or comes later.

        Args:
            owner: whose it is.
            turn: its id.
            server: who takes it, and has given a sign of life.
            waiting: the same as for `comes_later`; None takes it whatever comes before it.
        """
        first = true() if waiting is None else not_(exists().where(_before(waiting=waiting)))
        taken = update(TurnRow).where(_is(owner, turn), waits(), first)
        begun = taken.values(server=server, attempt=TurnRow.attempt + 1).returning(TurnRow.attempt)
        async with self._database.writing() as connection:
            return (await connection.execute(begun)).scalar_one_or_none()

    async def return_unbegun(self, owner: str, turn: str, server: str) -> bool:
        """Let a turn wait again of which nothing was done, if its job goes on or waits; returns whether it does.

        Args:
            owner: whose it is.
            turn: its id.
            server: who has it; a turn that another one has is left alone.
        """
        its_job = and_(JobRow.owner == owner, JobRow.id == TURN_JOB + turn, JobRow.state.in_(("queued", "running")))
        going = and_(_is(owner, turn), TurnRow.state == RUNNING, TurnRow.server == server, exists().where(its_job))
        async with self._database.writing() as connection:
            returned = await connection.execute(update(TurnRow).where(going).values(server=NOBODY))
            return bool(returned.rowcount)

    async def comes_later(self, owner: str, turn: str, *, waiting: bool = True) -> bool:
        """Whether an earlier turn of the same conversation has not ended.

        Args:
            owner: whose it is.
            turn: its id.
            waiting: whether earlier turns count that no process has taken.
        """
        wanted = select(exists().where(_before(waiting=waiting))).where(_is(owner, turn))
        async with self._database.reading() as connection:
            return bool((await connection.execute(wanted)).scalar_one_or_none())

    async def stop(self, owner: str, turn: str) -> bool:
        """End a turn that waits; False when it waits no more, or a worker is about to take it."""
        its_job = and_(JobRow.owner == owner, JobRow.id == TURN_JOB + turn)
        async with self._database.writing() as connection:
            await cancel_where(connection, its_job)
        return bool(await self.end_forgotten())

    async def end_forgotten(self) -> int:
        """End the turns that wait though nobody will take them: their last event says so; returns how many."""
        async with self._database.reading() as connection:
            its_job = and_(JobRow.owner == TurnRow.owner, JobRow.id == TURN_JOB + TurnRow.id)
            why = select(JobRow.error).where(its_job, JobRow.state == "failed").scalar_subquery()
            wanted = select(TurnRow.owner, TurnRow.id, TurnRow.attempt, why).where(is_forgotten())
            found = (await connection.execute(wanted)).all()
        count = 0
        for owner, turn, attempt, error in found:
            event = cancelled(message=UNTAKEN, reason="stopped") if error is None else failed(_given_up(error))
            sealed = await asyncio.to_thread(self._database.documents.seal_text, json_bytes(event).decode())
            at = UNSTORED * (attempt or 0) + 1
            ended = {"last": at, "state": event.event, "ended_at": self._clock.at()}
            row = {"owner": owner, "turn": turn, "first": at, "last": at, "document": sealed}
            async with self._database.writing() as connection:
                this = update(TurnRow).where(_is(owner, turn), is_forgotten()).values(ended)
                if (await connection.execute(this)).rowcount:
                    await connection.execute(insert(TurnEventsRow), row)
                    await notify(connection, turn_name(owner, turn), TURNS)
                    count += 1
        return count

    async def news(self, wanted: Sequence[Place]) -> list[News]:
        """How turns stand, and their next events after those that are known, for each place."""
        keys = [
            {"at": at, "owner": owner, "turn": turn, "after": after} for at, (owner, turn, after) in enumerate(wanted)
        ]
        async with self._database.reading() as connection:
            followed = FOLLOWED[connection.dialect.name]
            rows = (await connection.execute(followed, {"keys": json.dumps(keys)})).all()
            forgotten: set[tuple[str, str]] = set()
            if any(row.state == RUNNING and row.server == NOBODY for row in rows):
                waiting = select(TurnRow.owner, TurnRow.id).where(is_forgotten())
                forgotten = {(owner, turn) for owner, turn in (await connection.execute(waiting)).all()}
        by_place: dict[int, list[Any]] = {}
        for row in rows:
            by_place.setdefault(row.at, []).append(row)
        size = sum(len(row.document) for row in rows if row.document is not None)
        lines = self._opened(by_place) if size <= AT_ONCE else await asyncio.to_thread(self._opened, by_place)
        found = [News(None)] * len(wanted)
        for at, (first, *more) in by_place.items():
            owner, turn, after = wanted[at]
            is_gone = first.ended_at is not None and first.ended_at < self._clock.at(self._kept)
            found[at] = News(
                StoredTurn(first.state, first.last, is_gone, bool(first.is_lost)),
                [line for line in lines.get(at, ()) if line[0] > after],
                has_more=len(more) + 1 >= READ_ROWS,
                is_forgotten=(owner, turn) in forgotten,
                waits=first.state == RUNNING and first.server == NOBODY,
            )
        return found

    def _opened(self, rows: Mapping[int, Sequence[Any]]) -> dict[int, list[tuple[int, bytes]]]:
        unseal = self._database.documents.unseal_text
        return {
            at: [
                (number, line.encode())
                for row in some
                if row.document is not None
                for number, line in enumerate(unseal(row.document).split("\n"), row.first)
            ]
            for at, some in rows.items()
        }


def _before(*, waiting: bool) -> ColumnElement[bool]:
    """Which turns of the same conversation came before one and have not ended."""
    earlier = TurnRow.__table__.alias()
    return and_(
        earlier.c.owner == TurnRow.owner,
        earlier.c.session == TurnRow.session,
        earlier.c.state == RUNNING,
        true() if waiting else earlier.c.server != NOBODY,
        or_(
            earlier.c.started_at < TurnRow.started_at,
            and_(earlier.c.started_at == TurnRow.started_at, earlier.c.id < TurnRow.id),
        ),
    )


def _given_up(error: str) -> TurnError:
    """Why a turn is not taken whose job has failed."""
    return TurnError(
        code="turn_given_up",
        message=f"No worker could take this turn. {error}",
        fix="Send the message again; if that does not help, the logs of the workers say why.",
    )


def _is(owner: str, turn: str) -> ColumnElement[bool]:
    return and_(TurnRow.owner == owner, TurnRow.id == turn)
