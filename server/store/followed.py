"""How turns stand that are followed, and their next events: one statement for all that follow them at a server."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Integer, Select, String, and_, bindparam, cast, column, func, select, true

from runtime.database.tables import TurnEventsRow, TurnRow
from server.store.turn_rows import LOST, READ_ROWS

_EVENTS: Final[Any] = TurnEventsRow.__table__


def _keys(dialect: str) -> Any:
    """The turns that are wanted, with the number of the last event that is known: the rows of a JSON array."""
    given = bindparam("keys", type_=String())
    columns = (("at", Integer), ("owner", String), ("turn", String), ("after", BigInteger))
    if dialect == "postgresql":
        rows = func.json_to_recordset(cast(given, JSON))
        return rows.table_valued(*(column(*one) for one in columns)).render_derived(name="k", with_types=True)
    rows = func.json_each(given).table_valued("value")
    parts = (func.json_extract(rows.c.value, f"$.{name}", type_=type_()).label(name) for name, type_ in columns)
    return select(*parts).subquery("k")


def _next(keys: Any, *columns: str) -> Select[*tuple[Any, ...]]:
    """The rows of a turn that come next. They are found by their first events, whatever came before them."""
    rows, before = _EVENTS.alias("f"), _EVENTS.alias("g")
    same = [and_(one.c.owner == keys.c.owner, one.c.turn == keys.c.turn) for one in (rows, before)]
    known = select(func.max(before.c.first)).where(same[1], before.c.first <= keys.c.after + 1).correlate(keys)
    wanted = select(*(rows.c[name] for name in columns)).where(
        same[0], rows.c.first >= func.coalesce(known.scalar_subquery(), 0), rows.c.last > keys.c.after
    )
    return wanted.order_by(rows.c.first).limit(READ_ROWS).correlate(keys)


def _followed(dialect: str) -> Select[*tuple[Any, ...]]:
    keys = _keys(dialect)
    turn = and_(TurnRow.owner == keys.c.owner, TurnRow.id == keys.c.turn)
    if dialect == "postgresql":
        events: Any = _next(keys, "first", "document").lateral("e")
        of_turn: Any = true()
    else:
        events = _EVENTS.alias("e")
        of_turn = and_(
            events.c.owner == keys.c.owner, events.c.turn == keys.c.turn, events.c.first.in_(_next(keys, "first"))
        )
    found = keys.join(TurnRow.__table__, turn).outerjoin(events, of_turn)
    of_row = (TurnRow.state, TurnRow.last, TurnRow.server, TurnRow.ended_at, LOST.label("is_lost"))
    return select(keys.c.at, *of_row, events.c.first, events.c.document).select_from(found).order_by(events.c.first)


FOLLOWED: Final = {dialect: _followed(dialect) for dialect in ("postgresql", "sqlite")}
"""By dialect, for a JSON array of objects with `at`, `owner`, `turn` and `after`: a row for each of a turn's next rows
of events, at most `READ_ROWS`, and one for a turn that has none."""
