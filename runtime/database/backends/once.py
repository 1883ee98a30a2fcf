"""Effects that are stored once: the transaction that stores one also notes that it is stored."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from sqlalchemy import ColumnClause, and_, update

from runtime.database.backends.asynchronous import AsyncConnection
from runtime.database.backends.insertion import insert_for
from runtime.database.base import Base, column
from runtime.database.errors import Done, Superseded
from runtime.database.tables import TurnRow


class TurnEffectRow(Base):
    """An effect of a durable turn's step on what is stored, which must not be repeated.

    Attributes:
        owner: the user.
        turn: the turn's id.
        step: the number of the step within the turn.
    """

    __tablename__ = "turn_effects"

    owner: ColumnClause[str] = column(primary_key=True)
    turn: ColumnClause[str] = column(primary_key=True)
    step: ColumnClause[int] = column(primary_key=True)


@dataclass(frozen=True)
class Effect:
    """The effect of one step of a turn.

    Attributes:
        owner: whose turn it is.
        turn: its id.
        step: the number of the step.
        attempt: the number of this process among those that have taken the turn.
    """

    owner: str
    turn: str
    step: int
    attempt: int


_EFFECT: ContextVar[Effect | None] = ContextVar("effect", default=None)


@contextmanager
def stored_once(effect: Effect) -> Generator[None]:
    """Let what is stored in the block be the effect of a step."""
    token = _EFFECT.set(effect)
    try:
        yield
    finally:
        _EFFECT.reset(token)


async def note_once(connection: AsyncConnection) -> None:
    """Note in a transaction that what it stores is stored, if it is the effect of a step.

    Raises:
        Done: it is already.
        Superseded: another process has taken the turn.
    """
    effect = _EFFECT.get()
    if effect is None:
        return
    mine = and_(TurnRow.owner == effect.owner, TurnRow.id == effect.turn, TurnRow.attempt == effect.attempt)
    if not (await connection.execute(update(TurnRow).where(mine).values(attempt=effect.attempt))).rowcount:
        raise Superseded
    noted = insert_for(connection.dialect, TurnEffectRow).values(owner=effect.owner, turn=effect.turn, step=effect.step)
    new = noted.on_conflict_do_nothing().returning(TurnEffectRow.step)  # Postgres' driver counts no inserted rows
    if (await connection.execute(new)).one_or_none() is None:
        raise Done
