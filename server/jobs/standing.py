"""How many jobs wait in each queue, and how many workers are there that take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.database.database import Database
from runtime.jobs.job import QUEUES, QueueName


@dataclass(frozen=True)
class Standing:
    """How the queues stand.

    Attributes:
        queued: how many jobs wait, by queue.
        workers: how many workers are there, by queue.
    """

    queued: Mapping[QueueName, int]
    workers: Mapping[QueueName, int]

    @property
    def unserved(self) -> list[QueueName]:
        """The queues in which jobs wait that no worker takes."""
        return [queue for queue in QUEUES if self.queued[queue] and not self.workers[queue]]


async def read_standing(database: Database) -> Standing:
    """How the queues of a database stand now.

    Raises:
        StoreUnavailable: the database does not say.
    """
    await database.open()
    from sqlalchemy import func, select

    from runtime.durable.leases import serving
    from runtime.jobs.tables import JobRow

    waiting = select(JobRow.queue, func.count().label("jobs")).where(JobRow.state == "queued").group_by(JobRow.queue)
    async with database.reading() as connection:
        counts = {row.queue: row.jobs for row in await connection.execute(waiting)}
        served = await serving(connection)
    return Standing(
        {queue: counts.get(queue, 0) for queue in QUEUES},
        {queue: sum(queue in queues for queues in served) for queue in QUEUES},
    )
