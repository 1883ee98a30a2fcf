"""The events of turns in an SQL database: a row for what was written together, encrypted."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, bindparam, delete, exists, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from agent.contract.endings import cancelled
from runtime.database.database import Database
from runtime.database.tables import TurnEventsRow, TurnRow
from server.json_response import json_bytes
from server.store.turns import RUNNING, UNSTORED, Lines, NewEvents, SteadyClock, StoredTurn

ROW_BYTES: Final = 128 * 1_024
"""Bytes of events beyond which those that were sent together take another row."""

READ_ROWS: Final = 4
"""Rows that are read at a time."""

KNOWN_SECONDS: Final = 7 * 86_400.0
"""How long a turn is known after its events are gone."""

INTERRUPTED: Final = "The server ended during this turn; what was saved before is kept."

_NEW = insert(TurnRow)
_ADD = insert(TurnEventsRow)
_END = (
    update(TurnRow)
    .where(TurnRow.owner == bindparam("of"), TurnRow.id == bindparam("turn"))
    .values(last=bindparam("upto"), state=bindparam("now"), ended_at=bindparam("ended"))
)


class SqlTurns:
    """Events of turns by owner. Every method may raise `StoreUnavailable` or `SecretKeyUnavailable`.

    Args:
        database: where they are stored.
        server: names the server that takes the turns, the same one after a restart.
        kept: how many seconds events are kept after the end of their turn.
        clock: the time.
    """

    def __init__(self, database: Database, server: str, kept: float, clock: SteadyClock) -> None:
        self._database = database
        self._server = server
        self._kept = kept
        self._clock = clock

    async def reserve(self, owner: str, turn: str, session: str) -> bool:
        """Store a turn without events; False, and nothing is stored, when its owner has one of this id."""
        new = self._turn(owner, turn, session, state=RUNNING, last=0)
        async with self._database.writing() as connection:
            try:
                async with connection.begin_nested():
                    await connection.execute(_NEW, new)
            except IntegrityError:
                return False
        return True

    async def append(self, added: Sequence[NewEvents], *, again: bool = False) -> None:
        """Store events of several turns in one transaction; `again` after a failure, since it may have stored them."""
        rows = await asyncio.to_thread(self._rows, added)
        new = [
            self._turn(one.owner, one.turn, one.session, state=one.state, last=one.last) for one in added if one.is_new
        ]
        ended = [
            {"of": one.owner, "turn": one.turn, "upto": one.last, "now": one.state, "ended": self._clock.at()}
            for one in added
            if one.state != RUNNING and not one.is_new
        ]
        async with self._database.writing() as connection:
            if again:
                for one in added:
                    await self._remove(connection, one)
            if new:
                await connection.execute(_NEW, new)
            if ended:
                await connection.execute(_END, ended)
            if rows:
                await connection.execute(_ADD, rows)

    async def _remove(self, connection: AsyncConnection, added: NewEvents) -> None:
        mine = and_(TurnEventsRow.owner == added.owner, TurnEventsRow.turn == added.turn)
        await connection.execute(delete(TurnEventsRow).where(mine, TurnEventsRow.first >= added.first))
        if added.is_new:
            await connection.execute(delete(TurnRow).where(_is(added.owner, added.turn)))

    async def find(self, owner: str, turn: str) -> StoredTurn | None:
        """A turn, if it is there."""
        wanted = select(TurnRow.state, TurnRow.last, TurnRow.ended_at).where(_is(owner, turn))
        async with self._database.reading() as connection:
            row = (await connection.execute(wanted)).one_or_none()
        if row is None:
            return None
        is_gone = row.ended_at is not None and row.ended_at < self._clock.at(self._kept)
        return StoredTurn(row.state, row.last, is_gone)

    async def runs_elsewhere(self, owner: str, session: str, seconds: float) -> bool:
        """Whether another server takes a turn of a conversation, begun no longer ago than a turn may last."""
        of_session = and_(TurnRow.owner == owner, TurnRow.session == _digest(session), TurnRow.state == RUNNING)
        wanted = select(TurnRow.id).where(
            of_session, TurnRow.server != self._server, TurnRow.started_at > self._clock.at(seconds)
        )
        async with self._database.reading() as connection:
            return (await connection.execute(wanted.limit(1))).first() is not None

    async def read(self, owner: str, turn: str, after: int) -> Lines:
        """The next events with higher numbers than `after`, some at a time."""
        mine = and_(TurnEventsRow.owner == owner, TurnEventsRow.turn == turn, TurnEventsRow.last > after)
        wanted = select(TurnEventsRow.first, TurnEventsRow.document).where(mine)
        async with self._database.reading() as connection:
            rows = (await connection.execute(wanted.order_by(TurnEventsRow.first).limit(READ_ROWS))).all()
        if not rows:
            return ()
        lines = await asyncio.to_thread(self._opened, rows)
        return [(number, line) for number, line in lines if number > after]

    async def forget(self, owner: str, *, session: str | None = None, turn: str | None = None) -> None:
        """Delete one turn, or the turns of a conversation that have ended."""
        of_session = and_(TurnRow.session == _digest(session or ""), TurnRow.state != RUNNING)
        wanted = of_session if turn is None else TurnRow.id == turn
        gone = and_(TurnRow.owner == owner, wanted)
        ids = select(TurnRow.id).where(gone)
        async with self._database.writing() as connection:
            of_them = delete(TurnEventsRow).where(TurnEventsRow.owner == owner, TurnEventsRow.turn.in_(ids))
            await connection.execute(of_them)
            await connection.execute(delete(TurnRow).where(gone))

    async def prune(self) -> None:
        """Delete the events that are older than they are kept, and later their turns."""
        of_row = and_(TurnRow.owner == TurnEventsRow.owner, TurnRow.id == TurnEventsRow.turn)
        old = exists().where(of_row, TurnRow.ended_at < self._clock.at(self._kept))
        async with self._database.writing() as connection:
            await connection.execute(delete(TurnEventsRow).where(old))
            await connection.execute(
                delete(TurnRow).where(TurnRow.ended_at < self._clock.at(self._kept + KNOWN_SECONDS))
            )

    async def end_interrupted(self) -> None:
        """End the turns that this server was taking when its process ended: their last event says so.

        Up to `UNSTORED` events may have been sent that were not stored; the number of the last event is a higher one.
        """
        of_turn = and_(TurnEventsRow.owner == TurnRow.owner, TurnEventsRow.turn == TurnRow.id)
        last = select(func.coalesce(func.max(TurnEventsRow.last), 0)).where(of_turn).scalar_subquery()
        mine = and_(TurnRow.server == self._server, TurnRow.state == RUNNING)
        async with self._database.reading() as connection:
            found = (await connection.execute(select(TurnRow.owner, TurnRow.id, last).where(mine))).all()
        if not found:
            return
        event = cancelled(message=INTERRUPTED, reason="interrupted")
        ended = [
            NewEvents(
                owner=owner,
                turn=turn,
                session="",
                is_new=False,
                first=sent + UNSTORED + 1,
                lines=(json_bytes(event),),
                state=event.event,
            )
            for owner, turn, sent in found
        ]
        await self.append(ended)

    def _turn(self, owner: str, turn: str, session: str, *, state: str, last: int) -> dict[str, Any]:
        return {
            "owner": owner,
            "id": turn,
            "session": _digest(session),
            "server": self._server,
            "state": state,
            "last": last,
            "started_at": self._clock.at(),
            "ended_at": None if state == RUNNING else self._clock.at(),
        }

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

    def _opened(self, rows: Sequence[Any]) -> Lines:
        unseal = self._database.documents.unseal_text
        return [
            (first + at, line.encode())
            for first, document in rows
            for at, line in enumerate(unseal(document).split("\n"))
        ]


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


def _digest(session: str) -> str:
    """Stands for a conversation, whose id is any text of the client's."""
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()


def _is(owner: str, turn: str) -> ColumnElement[bool]:
    return and_(TurnRow.owner == owner, TurnRow.id == turn)
