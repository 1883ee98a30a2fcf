"""Who is there: processes note it on the database's clock, and what those had that are gone is given back.

No clock of a process is compared with that of another one: that a process was seen, and that it was not for long, are
both said by the database.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, exists, not_, or_, text
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from runtime.database.backends.clock import DatabaseTime
from runtime.database.connections import upsert
from runtime.database.tables import ServerRow

LEASE_SECONDS: Final = 4.0
"""After how long without a sign of life a worker is gone."""

BEAT_SECONDS: Final = 0.9
"""How often a worker gives a sign of life, and looks for what the dead have left: together with the lease under 5 s."""

_GIVE_BACK: Final = """
UPDATE "{schema}".workflow_status
SET status = 'ENQUEUED', owner_xid = NULL, started_at_epoch_ms = NULL, application_version = :protocol,
    queue_name = coalesce(queue_name, '_dbos_internal_queue'),
    updated_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
WHERE status = 'PENDING' AND executor_id <> :executor AND NOT EXISTS (
    SELECT 1 FROM servers WHERE servers.id = executor_id AND servers.seen_at > to_char(
        (clock_timestamp() - make_interval(secs => :lease)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"'
    )
)
"""


async def beat(connection: AsyncConnection, name: str) -> None:
    """Note that a process is there.

    Args:
        connection: is in a transaction.
        name: names the process among all that share the database.
    """
    await upsert(connection, ServerRow, {"id": name}, {"seen_at": DatabaseTime()})


def is_gone(worker: InstrumentedAttribute[str], lease: float = LEASE_SECONDS) -> ColumnElement[bool]:
    """Whether the process that a column names has given no sign of life for too long.

    Args:
        worker: the column.
        lease: seconds.
    """
    alive = exists().where(ServerRow.id == worker, ServerRow.seen_at > DatabaseTime(lease))
    return or_(worker == "", not_(alive))


async def give_back_workflows(
    connection: AsyncConnection, schema: str, executor: str, protocol: str, lease: float = LEASE_SECONDS
) -> int:
    """Give the workflows of executors that are gone back to their queue in DBOS, which has none for that; on Postgres.

    It is one statement, so that of several processes that do so at once each workflow is given back by one.

    Args:
        connection: is in a transaction.
        schema: the schema of DBOS's tables.
        executor: the process that asks, which DBOS itself lets go on with its own.
        protocol: the version of the application that goes on with them.
        lease: seconds.

    Returns:
        How many were given back.
    """
    given = text(_GIVE_BACK.format(schema=schema))
    values = {"executor": executor, "protocol": protocol, "lease": lease}
    return (await connection.execute(given, values)).rowcount
