"""Steps of durable turns: what was recorded of them, and effects that are stored once.

The transaction that stores an effect also notes that it is stored, and records the steps that it follows from.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnClause, Dialect, bindparam, select
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


_MINE: Final = select(TurnRow.attempt).where(
    TurnRow.owner == bindparam("owner"), TurnRow.id == bindparam("turn"), TurnRow.attempt == bindparam("attempt")
)
"""Finds a turn that is still that of an attempt."""

_NOTING: Final[dict[str, Any]] = {}
"""The statement that notes an effect, by the name of the dialect."""


async def note_once(connection: AsyncConnection) -> None:
    """Note in a transaction that what it stores is stored, if it is the effect of a step, and what it follows from.

    Raises:
        Done: it is already.
        Superseded: another process has taken the turn.
    """
    effect = EFFECT.get()
    if effect is None:
        return
    noting = _noting(connection.dialect)
    given = {"owner": effect.owner, "turn": effect.turn, "step": effect.step, "attempt": effect.attempt}
    if (await connection.execute(noting, given)).one_or_none() is None:
        is_mine = (await connection.execute(_MINE, given)).one_or_none() is not None
        raise Done if is_mine else Superseded
    if effect.before:
        recorded = insert_for(connection.dialect, TurnStepsRow)
        recorded = recorded.on_conflict_do_update(
            index_elements=["owner", "turn", "first"],
            set_={"last": recorded.excluded.last, "document": recorded.excluded.document},
        )
        await connection.execute(recorded, [{**one} for one in effect.before])
    effect.is_noted = True


def _noting(dialect: Dialect) -> Any:
    """Notes an effect where the turn is still that of an attempt, and lets nobody take it meanwhile."""
    if dialect.name not in _NOTING:
        columns = ("owner", "turn", "step")
        values = [bindparam(name, type_=getattr(TurnEffectRow, name).type).label(name) for name in columns]
        mine = _MINE.with_only_columns(*values).select_from(TurnRow.__table__).with_for_update(key_share=True)
        new = insert_for(dialect, TurnEffectRow).from_select(columns, mine).on_conflict_do_nothing()
        _NOTING[dialect.name] = new.returning(TurnEffectRow.step)  # Postgres' driver counts no inserted rows
    return _NOTING[dialect.name]
