"""The jobs and batches of a user, on this machine or at a server, by their ids or how these begin."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Protocol

from cli.errors import CommandError
from runtime.files.folders import LOCAL_USER
from runtime.jobs.errors import BatchNotFound
from server.routes.jobs.batches import BatchEntry

if TYPE_CHECKING:
    from cli.remote.connection import Server
    from cli.remote.stores.jobs import RemoteJobs
    from runtime.jobs.batches import Batch, Batches
    from runtime.jobs.job import Job
    from runtime.jobs.rows import Jobs

FOUND: Final = 200
"""How many jobs, and how many batches, the beginning of an id is looked for in."""


class BatchStore(Protocol):
    """Batches, here or at a server."""

    async def page(self, limit: int) -> tuple[list[BatchEntry], int]:
        """The last ones, latest first, and how many there are in all."""
        ...

    async def get(self, batch: str) -> BatchEntry:
        """One of them."""
        ...

    async def cancel(self, batch: str) -> BatchEntry:
        """End it early."""
        ...

    async def retry(self, batch: str) -> BatchEntry:
        """Run again what has failed or was cancelled."""
        ...


class LocalBatches:
    """The batches in the database of this machine.

    Args:
        batches: those of all users.
    """

    def __init__(self, batches: Batches) -> None:
        self._batches = batches

    async def page(self, limit: int) -> tuple[list[BatchEntry], int]:
        """The last ones, latest first, and how many there are in all."""
        found, total = await self._batches.page(LOCAL_USER, limit)
        return [_entry(one) for one in found], total

    async def get(self, batch: str) -> BatchEntry:
        """One of them."""
        return _entry(await self._batches.get(LOCAL_USER, batch))

    async def cancel(self, batch: str) -> BatchEntry:
        """End it early."""
        return _entry(await self._batches.cancel(LOCAL_USER, batch))

    async def retry(self, batch: str) -> BatchEntry:
        """Run again what has failed or was cancelled."""
        return _entry(await self._batches.retry(LOCAL_USER, batch))


@dataclass(frozen=True)
class Queue:
    """The jobs and batches that commands work on.

    Attributes:
        jobs: the jobs.
        batches: the batches.
    """

    jobs: Jobs | RemoteJobs
    batches: BatchStore

    async def found(self, name: str) -> Job | BatchEntry:
        """The job or batch with an id, or whose id alone begins so.

        Raises:
            CommandError: there is none, or there are several.
        """
        jobs, _ = await self.jobs.page(LOCAL_USER, FOUND)
        batches, _ = await self.batches.page(FOUND)
        found = [one for one in (*batches, *jobs) if one.id.startswith(name)]
        exact = [one for one in found if one.id == name]
        if not found or not name:
            return await self._unlisted(name)
        if len(found) > 1 and not exact:
            message = f"{len(found)} jobs begin with {name!r}."
            raise CommandError("job_ambiguous", message, fix=f"Write more of its id, such as {found[0].id}.")
        return (exact or found)[0]

    async def _unlisted(self, name: str) -> Job | BatchEntry:
        """A job or batch that lists leave out: an input of a batch, or one that is long past."""
        try:
            return await self.batches.get(name)
        except (BatchNotFound, CommandError) as missing:
            if missing.code != BatchNotFound.code:
                raise
        return await self.jobs.get(LOCAL_USER, name)


@asynccontextmanager
async def opened_queue(server: Server | None) -> AsyncGenerator[Queue]:
    """The jobs and batches at a server, or else on this machine.

    Args:
        server: the server, if one is named.
    """
    if server is not None:
        from cli.remote.stores.jobs import RemoteBatches, RemoteJobs

        yield Queue(RemoteJobs(server), RemoteBatches(server))
        return
    from cli.database import opened_database

    async with opened_database() as database:
        await database.open()
        from runtime.jobs.batches import Batches
        from runtime.jobs.rows import Jobs

        yield Queue(Jobs(database), LocalBatches(Batches(database)))


def _entry(batch: Batch) -> BatchEntry:
    return BatchEntry.model_validate(asdict(batch))
