"""The recorded steps of durable turns in an SQL database: a row for those that were recorded together."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Dialect, bindparam, select

from runtime.database.backends.insertion import insert_for
from runtime.database.backends.once import TurnStepsRow
from runtime.database.backends.recorded import StepsTogether
from runtime.database.database import Database
from runtime.database.tables import TurnRow
from server.store.turns import RUNNING

_COLUMNS: Final = ("owner", "turn", "first", "last", "document")


class SqlSteps:
    """Steps by turn. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._adding: Any = None

    async def add(self, steps: StepsTogether, attempt: int) -> bool:
        """Record steps of a turn, in one statement; again after a failure as well, since it may have recorded them.

        Args:
            steps: the steps.
            attempt: the number of this process among those that have taken the turn.

        Returns:
            False, and nothing is recorded, when another process has taken it, or it has ended.
        """
        async with self._database.writing() as connection:
            if self._adding is None:
                self._adding = _adding(connection.dialect)
            added = await connection.execute(self._adding, {**steps, "attempt": attempt})
            return added.first() is not None

    async def read(self, owner: str, turn: str) -> list[str]:
        """What was recorded of a turn's steps, in order: a document for those that were recorded together."""
        mine = select(TurnStepsRow.document).where(TurnStepsRow.owner == owner, TurnStepsRow.turn == turn)
        async with self._database.reading() as connection:
            return [*(await connection.execute(mine.order_by(TurnStepsRow.first))).scalars()]


def _adding(dialect: Dialect) -> Any:
    """Adds a row where the turn is still that of an attempt, and nobody can take it until the transaction has ended."""
    values = [bindparam(name, type_=getattr(TurnStepsRow, name).type).label(name) for name in _COLUMNS]
    mine = (TurnRow.owner == bindparam("owner"), TurnRow.id == bindparam("turn"))
    ours = (TurnRow.attempt == bindparam("attempt"), TurnRow.state == RUNNING)
    held = select(*values).select_from(TurnRow.__table__).where(*mine, *ours).with_for_update(key_share=True)
    new = insert_for(dialect, TurnStepsRow).from_select(_COLUMNS, held)
    key, rest = ("owner", "turn", "first"), ("last", "document")
    new = new.on_conflict_do_update(index_elements=key, set_={name: new.excluded[name] for name in rest})
    return new.returning(TurnStepsRow.first)
