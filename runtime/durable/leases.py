"""Who is there: processes note it on the database's clock, and what those had that are gone is given back.

No clock of a process is compared with that of another one: that a process was seen, and that it was not for long, are
both said by the database.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnClause, ColumnElement, exists, not_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from runtime.database.backends.clock import DatabaseTime
from runtime.database.connections import upsert
from runtime.database.tables import ServerRow

LEASE_SECONDS: Final = 4.0
"""After how long without a sign of life a worker is gone."""

BEAT_SECONDS: Final = 0.9
"""How often a worker gives a sign of life, and looks for what the dead have left: together with the lease under 5 s."""


async def beat(connection: AsyncConnection, name: str, queues: Sequence[str] | None = None) -> None:
    """Note that a process is there.

    Args:
        connection: is in a transaction.
        name: names the process among all that share the database.
        queues: the queues of which it does jobs; None leaves them as they are noted.
    """
    served = {} if queues is None else {"queues": " ".join(queues)}
    await upsert(connection, ServerRow, {"id": name}, {"seen_at": DatabaseTime(), **served})


async def renew(connection: AsyncConnection, name: str, lease: float) -> None:
    """Note that a process is there that was frozen for a while, before it takes anything: it would be lost at once.

    Args:
        connection: is in a transaction.
        name: names the process.
        lease: seconds after which it is gone.
    """
    late = update(ServerRow).where(ServerRow.id == name, ServerRow.seen_at < DatabaseTime(lease / 2))
    await connection.execute(late.values(seen_at=DatabaseTime()))


async def serving(connection: AsyncConnection, lease: float = LEASE_SECONDS) -> list[Sequence[str]]:
    """The queues of each process that does jobs and is there.

    Args:
        connection: reads them.
        lease: seconds after which a process is gone.
    """
    there = select(ServerRow.queues).where(ServerRow.seen_at > DatabaseTime(lease), ServerRow.queues != "")
    return [(queues or "").split() for queues in (await connection.execute(there)).scalars()]


def is_gone(worker: ColumnClause[str], lease: float = LEASE_SECONDS) -> ColumnElement[bool]:
    """Whether the process that a column names has given no sign of life for too long.

    Args:
        worker: the column.
        lease: seconds.
    """
    alive = exists().where(ServerRow.id == worker, ServerRow.seen_at > DatabaseTime(lease))
    return or_(worker == "", not_(alive))
