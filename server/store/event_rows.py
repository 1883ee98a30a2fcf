"""Storing the events of many turns at once: one statement that holds the turns, and one that adds the rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Executable,
    String,
    and_,
    bindparam,
    cast,
    column,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from runtime.database.tables import TurnEventsRow, TurnRow
from server.store.turns import NewEvents

_ADD: Final = insert(TurnEventsRow)
_KEY: Final = (TurnRow.owner, TurnRow.id, TurnRow.attempt)
_TYPES: Final[Mapping[str, Any]] = {
    "owner": String,
    "turn": String,
    "attempt": BigInteger,
    "first": BigInteger,
    "last": BigInteger,
    "document": String,
}


def _given(*names: str) -> Any:
    """The rows of a JSON array of objects, on Postgres: its text is the only thing that differs from time to time."""
    rows = func.json_to_recordset(cast(bindparam("given", type_=String()), JSON))
    return rows.table_valued(*(column(name, _TYPES[name]) for name in names)).render_derived(name="k", with_types=True)


def _held_by_postgres() -> Executable:
    """Locks the turns that are still those of their attempts, without writing them anew."""
    keys = _given("owner", "turn", "attempt")
    ours = and_(TurnRow.owner == keys.c.owner, TurnRow.id == keys.c.turn, TurnRow.attempt == keys.c.attempt)
    turns = TurnRow.__table__
    return select(*_KEY).select_from(turns.join(keys, ours)).with_for_update(key_share=True, of=turns)


def _added_by_postgres() -> Executable:
    rows = _given("owner", "turn", "first", "last", "document")
    names = [one.name for one in rows.c]
    return insert(TurnEventsRow).from_select(names, select(*rows.c))


_HELD: Final = _held_by_postgres()
_ADDED: Final = _added_by_postgres()


async def taken_over(connection: AsyncConnection, added: Sequence[NewEvents]) -> list[NewEvents]:
    """What other processes have taken over; none can take over the rest until the transaction has ended.

    Args:
        connection: is in a transaction.
        added: what is to be stored.
    """
    durable = {(one.owner, one.turn, one.attempt): one for one in added if one.attempt is not None}
    if not durable:
        return []
    if connection.dialect.name == "postgresql":
        keys = [{"owner": owner, "turn": turn, "attempt": attempt} for owner, turn, attempt in sorted(durable)]
        rows = (await connection.execute(_HELD, {"given": json.dumps(keys)})).all()
    else:
        named = tuple_(*_KEY).in_(sorted(durable))
        held = update(TurnRow).where(named).values(attempt=TurnRow.attempt).returning(*_KEY)
        rows = (await connection.execute(held)).all()
    ours = {(owner, turn, attempt) for owner, turn, attempt in rows}
    return [one for key, one in durable.items() if key not in ours]


async def add_rows(connection: AsyncConnection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows of events, which are encrypted.

    Args:
        connection: is in a transaction.
        rows: their columns by name.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(_ADDED, {"given": json.dumps([*rows])})
    elif rows:
        await connection.execute(_ADD, rows)
