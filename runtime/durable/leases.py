"""Who is there: processes note it on the database's clock, and what those had that are gone is given back.

No clock of a process is compared with that of another one: that a process was seen, and that it was not for long, are
both said by the database.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnClause, ColumnElement, exists, not_, or_
from sqlalchemy.ext.asyncio import AsyncConnection

from runtime.database.backends.clock import DatabaseTime
from runtime.database.connections import upsert
from runtime.database.tables import ServerRow

LEASE_SECONDS: Final = 4.0
"""After how long without a sign of life a worker is gone."""

BEAT_SECONDS: Final = 0.9
"""How often a worker gives a sign of life, and looks for what the dead have left: together with the lease under 5 s."""


async def beat(connection: AsyncConnection, name: str) -> None:
    """Note that a process is there.

    Args:
        connection: is in a transaction.
        name: names the process among all that share the database.
    """
    await upsert(connection, ServerRow, {"id": name}, {"seen_at": DatabaseTime()})


def is_gone(worker: ColumnClause[str], lease: float = LEASE_SECONDS) -> ColumnElement[bool]:
    """Whether the process that a column names has given no sign of life for too long.

    Args:
        worker: the column.
        lease: seconds.
    """
    alive = exists().where(ServerRow.id == worker, ServerRow.seen_at > DatabaseTime(lease))
    return or_(worker == "", not_(alive))
