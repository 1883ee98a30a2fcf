"""Steps of durable turns: what was recorded of them, and effects that are stored once.

The transaction that stores an effect also notes that it is stored, and records the steps that it follows from.
"""

from __future__ import annotations

from sqlalchemy import ColumnClause, and_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from runtime.database.backends.insertion import insert_for
from runtime.database.backends.recorded import EFFECT
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


class TurnStepsRow(Base):
    """Steps of a durable turn that were recorded together.

    Attributes:
        owner: the user.
        turn: the turn's id.
        first: the number of the first of them.
        last: the number of the last of them.
        document: what came of each, encrypted.
    """

    __tablename__ = "turn_steps"

    owner: ColumnClause[str] = column(primary_key=True)
    turn: ColumnClause[str] = column(primary_key=True)
    first: ColumnClause[int] = column(primary_key=True)
    last: ColumnClause[int]
    document: ColumnClause[str]


async def note_once(connection: AsyncConnection) -> None:
    """Note in a transaction that what it stores is stored, if it is the effect of a step, and what it follows from.

    Raises:
        Done: it is already.
        Superseded: another process has taken the turn.
    """
    effect = EFFECT.get()
    if effect is None:
        return
    mine = and_(TurnRow.owner == effect.owner, TurnRow.id == effect.turn, TurnRow.attempt == effect.attempt)
    if not (await connection.execute(update(TurnRow).where(mine).values(attempt=effect.attempt))).rowcount:
        raise Superseded
    noted = insert_for(connection.dialect, TurnEffectRow).values(owner=effect.owner, turn=effect.turn, step=effect.step)
    new = noted.on_conflict_do_nothing().returning(TurnEffectRow.step)  # Postgres' driver counts no inserted rows
    if (await connection.execute(new)).one_or_none() is None:
        raise Done
    if effect.before:
        recorded = insert_for(connection.dialect, TurnStepsRow)
        recorded = recorded.on_conflict_do_update(
            index_elements=["owner", "turn", "first"],
            set_={"last": recorded.excluded.last, "document": recorded.excluded.document},
        )
        await connection.execute(recorded, [{**one} for one in effect.before])
    effect.is_noted = True
