"""The events of turns in an SQL database: a row for what was written together, encrypted."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from math import inf
from time import monotonic
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from agent.contract.endings import cancelled
from runtime.database.backends.clock import DatabaseTime
from runtime.database.backends.insertion import insert_for
from runtime.database.backends.once import TurnEffectRow, TurnStepsRow
from runtime.database.connections import upsert
from runtime.database.database import Database
from runtime.database.tables import ServerRow, TurnEventsRow, TurnRow
from runtime.jobs.wake import TURNS, notify
from server.json_response import json_bytes
from server.store.event_rows import add_rows, taken_over
from server.store.sessions import session_digest, turn_name
from server.store.turns import (
    AT_ONCE,
    BEAT_SECONDS,
    DURABLE_BEAT_SECONDS,
    DURABLE_LEASE_SECONDS,
    LEASE_SECONDS,
    RUNNING,
    UNSTORED,
    NewEvents,
    SteadyClock,
    StoredTurn,
    TakenOver,
)

ROW_BYTES: Final = 128 * 1_024
"""Bytes of events beyond which those that were sent together take another row."""

NAMED: Final = 400
"""How many turns a notice names."""

READ_ROWS: Final = 4
"""Rows of a turn that are read at a time."""

KNOWN_SECONDS: Final = 7 * 86_400.0
"""How long a turn is known after its events are gone."""

INTERRUPTED: Final = "The server ended during this turn; what was saved before is kept."

_NEW = insert(TurnRow)
_END = (
    update(TurnRow)
    .where(TurnRow.owner == bindparam("of"), TurnRow.id == bindparam("turn"))
    .values(last=bindparam("upto"), state=bindparam("now"), ended_at=bindparam("ended"))
)
_FORGET_STEPS = delete(TurnStepsRow).where(
    TurnStepsRow.owner == bindparam("of"), TurnStepsRow.turn == bindparam("turn")
)
_END_RUNNING = _END.where(TurnRow.state == RUNNING)
_THERE = exists().where(ServerRow.id == TurnRow.server, ServerRow.seen_at > DatabaseTime(LEASE_SECONDS))
_PLAIN = TurnRow.attempt.is_(None)
_TAKEN = TurnRow.server != ""
LOST: Final = and_(TurnRow.state == RUNNING, _TAKEN, not_(_THERE))
"""Whether a turn has not ended though the server that took it is gone."""

_GONE = not_(exists().where(ServerRow.id == TurnRow.server, ServerRow.seen_at > DatabaseTime(DURABLE_LEASE_SECONDS)))
_LOST_DURABLE = and_(TurnRow.state == RUNNING, TurnRow.attempt.is_not(None), _TAKEN, _GONE)


class SqlTurns:
    """Events of turns by owner. Every method may raise `StoreUnavailable` or `SecretKeyUnavailable`.

    Args:
        database: where they are stored.
        server: names the server that takes the turns, the same one after a restart.
        kept: how many seconds events are kept after the end of their turn.
        clock: the time.
        durable: whether the server goes on with durable turns of others; otherwise they end as all turns do.
    """

    def __init__(
        self, database: Database, server: str, kept: float, clock: SteadyClock, *, durable: bool = False
    ) -> None:
        self._endable = _PLAIN if durable else true()
        self._tells = durable
        self._pause = DURABLE_BEAT_SECONDS if durable else BEAT_SECONDS
        self._database = database
        self._server = server
        self._kept = kept
        self._clock = clock
        self._beaten = -inf

    @property
    def server(self) -> str:
        """The name of the server that takes the turns."""
        return self._server

    async def reserve(self, owner: str, turn: str, session: str, *, durable: bool = False) -> bool:
        """Store a turn without events; False, and nothing is stored, when its owner has one of this id."""
        new = self._turn(owner, turn, session, state=RUNNING, last=0) | {"attempt": 1 if durable else None}
        async with self._database.writing() as connection:
            await self._beat(connection)
            reserved = insert_for(connection.dialect, TurnRow).on_conflict_do_nothing().returning(TurnRow.id)
            return (await connection.execute(reserved, new)).first() is not None

    async def append(self, added: Sequence[NewEvents], *, again: bool = False) -> Collection[NewEvents]:
        """Store events of several turns in one transaction; `again` after a failure, since it may have stored them.

        Returns:
            What was not stored, because other processes have taken these durable turns over.
        """
        size = sum(one.size for one in added)
        sealed = self._sealed(added) if size <= AT_ONCE else await asyncio.to_thread(self._sealed, added)
        async with self._database.writing() as connection:
            refused = await taken_over(connection, added)
            kept = [pair for pair in zip(added, sealed, strict=True) if pair[0] not in refused]
            await self._append(
                connection, [one for one, _ in kept], [row for _, rows in kept for row in rows], again=again
            )
            if self._tells:
                for some in _named([one for one, _ in kept]):
                    await notify(connection, some, TURNS)
        return refused

    async def _append(
        self, connection: AsyncConnection, added: Sequence[NewEvents], rows: Sequence[dict[str, Any]], *, again: bool
    ) -> None:
        new = [
            self._turn(one.owner, one.turn, one.session, state=one.state, last=one.last) for one in added if one.is_new
        ]
        ended = [
            {"of": one.owner, "turn": one.turn, "upto": one.last, "now": one.state, "ended": self._clock.at()}
            for one in added
            if one.state != RUNNING and not one.is_new
        ]
        if again:
            for one in added:
                await self._remove(connection, one)
        await self._beat(connection)
        if new:
            await connection.execute(_NEW, new)
        if ended and (await connection.execute(_END_RUNNING, ended)).rowcount < len(ended):
            await self._end_again(connection, ended)
        if rows:
            await add_rows(connection, rows)
        over = [
            {"of": one.owner, "turn": one.turn} for one in added if one.state != RUNNING and one.attempt is not None
        ]
        if over:  # nobody goes on with them
            await connection.execute(_FORGET_STEPS, over)

    async def _remove(self, connection: AsyncConnection, added: NewEvents) -> None:
        mine = and_(TurnEventsRow.owner == added.owner, TurnEventsRow.turn == added.turn)
        await connection.execute(delete(TurnEventsRow).where(mine, TurnEventsRow.first >= added.first))
        if added.is_new:
            await connection.execute(delete(TurnRow).where(_is(added.owner, added.turn)))

    async def _end_again(self, connection: AsyncConnection, ended: Sequence[dict[str, Any]]) -> None:
        """End turns that others have ended, because this server seemed to be gone: what they stored is removed."""
        for one in ended:
            of_turn = and_(TurnEventsRow.owner == one["of"], TurnEventsRow.turn == one["turn"])
            await connection.execute(delete(TurnEventsRow).where(of_turn, TurnEventsRow.first > one["upto"]))
            await connection.execute(_END, one)

    async def find(self, owner: str, turn: str) -> StoredTurn | None:
        """A turn, if it is there."""
        wanted = select(TurnRow.state, TurnRow.last, TurnRow.ended_at, LOST.label("is_lost")).where(_is(owner, turn))
        async with self._database.reading() as connection:
            row = (await connection.execute(wanted)).one_or_none()
        if row is None:
            return None
        is_gone = row.ended_at is not None and row.ended_at < self._clock.at(self._kept)
        return StoredTurn(row.state, row.last, is_gone, bool(row.is_lost))

    async def running(self, owner: str, session: str) -> str | None:
        """The turn of a conversation that runs, the latest if there are several."""
        mine = and_(TurnRow.owner == owner, TurnRow.session == session_digest(session), TurnRow.state == RUNNING)
        wanted = select(TurnRow.id).where(mine).order_by(TurnRow.started_at.desc()).limit(1)
        async with self._database.reading() as connection:
            return (await connection.execute(wanted)).scalar_one_or_none()

    async def forget(self, owner: str, *, session: str | None = None, turn: str | None = None) -> None:
        """Delete one turn, or the turns of a conversation that have ended."""
        of_session = and_(TurnRow.session == session_digest(session or ""), TurnRow.state != RUNNING)
        wanted = of_session if turn is None else TurnRow.id == turn
        gone = and_(TurnRow.owner == owner, wanted)
        ids = select(TurnRow.id).where(gone)
        async with self._database.writing() as connection:
            of_them = delete(TurnEventsRow).where(TurnEventsRow.owner == owner, TurnEventsRow.turn.in_(ids))
            await connection.execute(of_them)
            await connection.execute(
                delete(TurnStepsRow).where(TurnStepsRow.owner == owner, TurnStepsRow.turn.in_(ids))
            )
            await connection.execute(delete(TurnRow).where(gone))

    async def prune(self) -> None:
        """Delete the events that are older than they are kept, and later their turns; end those that are nobody's."""
        await self.end_lost()
        of_row = and_(TurnRow.owner == TurnEventsRow.owner, TurnRow.id == TurnEventsRow.turn)
        old = exists().where(of_row, TurnRow.ended_at < self._clock.at(self._kept))
        async with self._database.writing() as connection:
            await connection.execute(delete(TurnEventsRow).where(old))
            for rows in (TurnEffectRow, TurnStepsRow):
                await connection.execute(delete(rows).where(_ended_before(rows, self._clock.at(self._kept))))
            await connection.execute(
                delete(TurnRow).where(TurnRow.ended_at < self._clock.at(self._kept + KNOWN_SECONDS))
            )
            await connection.execute(delete(ServerRow).where(ServerRow.seen_at < DatabaseTime(KNOWN_SECONDS)))

    async def end_interrupted(self) -> None:
        """End the turns that this server was taking when its process ended, and those of servers that are gone."""
        mine = and_(TurnRow.server == self._server, TurnRow.state == RUNNING)
        await self._interrupt(and_(self._endable, or_(mine, LOST)))

    async def end_lost(self) -> int:
        """End the turns of servers that are gone: their last event says so; returns how many."""
        return await self._interrupt(and_(self._endable, LOST))

    async def take_over(self, owner: str, turn: str, step: int) -> TakenOver | None:
        """Take a durable turn that goes on; None if it has ended or is not known."""
        going = and_(_is(owner, turn), TurnRow.state == RUNNING, TurnRow.attempt.is_not(None))
        taken = update(TurnRow).where(going).values(attempt=TurnRow.attempt + 1, server=self._server)
        found = taken.returning(TurnRow.attempt, TurnRow.tries, TurnRow.step, TurnRow.stop_asked)
        of_turn = and_(TurnEventsRow.owner == owner, TurnEventsRow.turn == turn)
        async with self._database.writing() as connection:
            row = (await connection.execute(found)).one_or_none()
            if row is None:
                return None
            await self._beat(connection)
            tries = (row.tries or 1) + 1 if row.step == step else 2  # whoever had it before has begun the step as well
            await connection.execute(update(TurnRow).where(going).values(tries=tries, step=step))
            last = (await connection.execute(select(func.max(TurnEventsRow.last)).where(of_turn))).scalar_one()
        return TakenOver(row.attempt, tries, last or 0, bool(row.stop_asked))

    def _lost(self, *, mine: bool) -> ColumnElement[bool]:
        own = and_(TurnRow.server == self._server, TurnRow.state == RUNNING, TurnRow.attempt.is_not(None))
        return or_(_LOST_DURABLE, own) if mine else _LOST_DURABLE

    async def lost(self, *, mine: bool = False) -> Sequence[tuple[str, str]]:
        """The durable turns of servers that are gone; and of this one, if wanted."""
        wanted = select(TurnRow.owner, TurnRow.id).where(self._lost(mine=mine)).order_by(TurnRow.started_at)
        async with self._database.reading() as connection:
            found = (await connection.execute(wanted)).all()
        return [(owner, turn) for owner, turn in found]

    async def claim(self, owner: str, turn: str, *, mine: bool = False) -> bool:
        """Become the server of a durable turn that is lost; of several servers, one does."""
        claimed = update(TurnRow).where(_is(owner, turn), self._lost(mine=mine)).values(server=self._server)
        async with self._database.writing() as connection:
            await self._beat(connection)
            return bool((await connection.execute(claimed)).rowcount)

    async def _interrupt(self, which: ColumnElement[bool]) -> int:
        """End turns that nobody takes any more; of several servers that do so at once, one ends each.

        Up to `UNSTORED` events may have been sent that were not stored; the number of the last event is a higher one.
        """
        of_turn = and_(TurnEventsRow.owner == TurnRow.owner, TurnEventsRow.turn == TurnRow.id)
        last = select(func.coalesce(func.max(TurnEventsRow.last), 0)).where(of_turn).scalar_subquery()
        async with self._database.reading() as connection:
            found = (await connection.execute(select(TurnRow.owner, TurnRow.id, last).where(which))).all()
        event, count = cancelled(message=INTERRUPTED, reason="interrupted"), 0
        for owner, turn, sent in found:
            at = sent + UNSTORED + 1
            line = json_bytes(event)
            said = NewEvents(owner, turn, session="", is_new=False, first=at, lines=(line,), state=event.event)
            rows = await asyncio.to_thread(self._rows, [said])
            ended = {"last": at, "state": event.event, "ended_at": self._clock.at()}
            async with self._database.writing() as connection:
                if (await connection.execute(update(TurnRow).where(_is(owner, turn), which).values(ended))).rowcount:
                    await add_rows(connection, rows)
                    count += 1
        return count

    async def beat(self) -> None:
        """Note that this server is there, if that was not noted lately."""
        if self._is_due():
            async with self._database.writing() as connection:
                await self._beat(connection)

    async def ask_to_stop(self, owner: str, turn: str) -> None:
        """Ask the server that takes a turn to stop it."""
        running = and_(_is(owner, turn), TurnRow.state == RUNNING)
        async with self._database.writing() as connection:
            await connection.execute(update(TurnRow).where(running).values(stop_asked=True))

    async def asked_to_stop(self) -> Sequence[tuple[str, str]]:
        """The turns of this server that it is asked to stop, with their owners."""
        mine = and_(TurnRow.server == self._server, TurnRow.state == RUNNING, TurnRow.stop_asked.is_(True))
        async with self._database.reading() as connection:
            found = (await connection.execute(select(TurnRow.owner, TurnRow.id).where(mine))).all()
        return [(owner, turn) for owner, turn in found]

    async def runs_elsewhere(self, owner: str, session: str) -> bool:
        """Whether another server that is there takes a turn of a conversation."""
        of_session = and_(TurnRow.owner == owner, TurnRow.session == session_digest(session), TurnRow.state == RUNNING)
        elsewhere = or_(not_(_TAKEN), and_(TurnRow.server != self._server, _THERE))
        wanted = select(TurnRow.id).where(of_session, elsewhere).limit(1)
        async with self._database.reading() as connection:
            return (await connection.execute(wanted)).first() is not None

    def _is_due(self) -> bool:
        return monotonic() - self._beaten > self._pause

    async def _beat(self, connection: AsyncConnection) -> None:
        """Note that this server is there, in a transaction that is under way; no turn is seen without its server."""
        if self._is_due():
            await upsert(connection, ServerRow, {"id": self._server}, {"seen_at": DatabaseTime()})
            self._beaten = monotonic()

    def _turn(self, owner: str, turn: str, session: str, *, state: str, last: int) -> dict[str, Any]:
        return {
            "owner": owner,
            "id": turn,
            "session": session_digest(session),
            "server": self._server,
            "state": state,
            "last": last,
            "started_at": self._clock.at(),
            "ended_at": None if state == RUNNING else self._clock.at(),
        }

    def _sealed(self, added: Sequence[NewEvents]) -> list[list[dict[str, Any]]]:
        return [self._rows([one]) for one in added]

    def _rows(self, added: Sequence[NewEvents]) -> list[dict[str, Any]]:
        return [
            {
                "owner": one.owner,
                "turn": one.turn,
                "first": first,
                "last": first + len(lines) - 1,
                "document": self._database.documents.seal_text(b"\n".join(lines).decode()),
            }
            for one in added
            for first, lines in _parts(one)
        ]


def _ended_before(rows: type[TurnEffectRow] | type[TurnStepsRow], moment: str) -> ColumnElement[bool]:
    """Which rows of steps need not be kept any more, since their turns ended before a moment."""
    of_row = and_(TurnRow.owner == rows.owner, TurnRow.id == rows.turn)
    return exists().where(of_row, TurnRow.ended_at < moment)


def _parts(added: NewEvents) -> list[tuple[int, list[bytes]]]:
    """The events by rows, with the number of the first of each."""
    parts: list[tuple[int, list[bytes]]] = []
    size = ROW_BYTES
    for number, line in enumerate(added.lines, added.first):
        if size + len(line) > ROW_BYTES:
            parts.append((number, []))
            size = 0
        parts[-1][1].append(line)
        size += len(line)
    return parts


def _named(added: Sequence[NewEvents]) -> list[str]:
    """The names of turns as notices have them, as many in each as fit."""
    names = [turn_name(one.owner, one.turn) for one in added]
    return [" ".join(names[at : at + NAMED]) for at in range(0, len(names), NAMED)]


def _is(owner: str, turn: str) -> ColumnElement[bool]:
    return and_(TurnRow.owner == owner, TurnRow.id == turn)
