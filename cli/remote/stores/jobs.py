"""The jobs at a server, as `wirewright jobs` asks for them."""

from __future__ import annotations

import asyncio

from cli.remote.connection import Server, segment
from runtime.jobs.job import Job
from server.routes.jobs.batches import BATCHES, BatchEntry, BatchPage
from server.routes.jobs.queued import JOBS, JobPage, KeptJob


class RemoteJobs:
    """The user's jobs at a server, which knows the user by the token.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    async def page(self, _: str, limit: int, /) -> tuple[list[Job], int]:
        """The last jobs, latest first, and how many there are in all."""
        found = await asyncio.to_thread(self._server.read, JobPage, JOBS, {"limit": limit})
        return found.jobs, found.total

    async def get(self, owner: str, job: str, /) -> Job:
        """A job.

        Raises:
            CommandError: there is none of this id.
        """
        kept = await asyncio.to_thread(self._server.read, KeptJob, f"{JOBS}/{segment(job)}")
        return Job(owner=owner, **kept.model_dump(exclude={"result"}))

    async def cancel(self, owner: str, job: str, /) -> Job:
        """End a job; returns it as it stands."""
        return await self._change(owner, job, "cancel")

    async def retry(self, owner: str, job: str, /) -> Job:
        """Queue a job again; returns it as it stands."""
        return await self._change(owner, job, "retry")

    async def _change(self, owner: str, job: str, what: str) -> Job:
        kept = await asyncio.to_thread(self._server.change, KeptJob, "POST", f"{JOBS}/{segment(job)}/{what}")
        return Job(owner=owner, **kept.model_dump(exclude={"result"}))


class RemoteBatches:
    """The user's batches at a server.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    async def page(self, limit: int) -> tuple[list[BatchEntry], int]:
        """The last batches, latest first, and how many there are in all."""
        found = await asyncio.to_thread(self._server.read, BatchPage, BATCHES, {"limit": limit})
        return found.batches, found.total

    async def get(self, batch: str) -> BatchEntry:
        """A batch.

        Raises:
            CommandError: there is none of this id.
        """
        return await asyncio.to_thread(self._server.read, BatchEntry, f"{BATCHES}/{segment(batch)}")

    async def cancel(self, batch: str) -> BatchEntry:
        """End a batch early; returns it as it stands."""
        return await self._change(batch, "cancel")

    async def retry(self, batch: str) -> BatchEntry:
        """Run again what has failed or was cancelled in a batch; returns it as it stands."""
        return await self._change(batch, "retry")

    async def _change(self, batch: str, what: str) -> BatchEntry:
        place = f"{BATCHES}/{segment(batch)}/{what}"
        return await asyncio.to_thread(self._server.change, BatchEntry, "POST", place, {})
