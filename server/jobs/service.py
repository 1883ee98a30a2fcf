"""The worker in the server's own process: it starts when something waits, and ends when nothing does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from agent.assistant import Assistant
from runtime.database.backends.urls import is_sqlite
from runtime.database.errors import StoreUnavailable
from runtime.telemetry import log_event
from server.jobs.standing import Standing, read_standing
from server.settings import ServerSettings
from server.streams.elsewhere import ServerName

if TYPE_CHECKING:
    from runtime.jobs.ticker import Ticker
    from runtime.jobs.worker import Worker

log = logging.getLogger(__name__)

FIRST_SECONDS: Final = 1.0
"""How long after its start a server looks whether something was left."""

LOOK_SECONDS: Final = 30.0
"""How often it looks for what others have left."""

IDLE_SECONDS: Final = 20.0
"""After how long without a job the worker ends."""


STANDING_SECONDS: Final = 3.0
"""How often a server on Postgres looks how many jobs wait, and how many workers are there."""


class JobService:
    """Does the jobs that wait, in the server's own process.

    A server to which nobody gives a job has no worker, and on SQLite never looks for one after its start.

    Args:
        assistant: runs flows.
        settings: the server's settings: whether it works itself, and how much at once.
        on_standing: is told how many jobs wait and how many workers are there; None when nobody knows.

    Attributes:
        standing: how many jobs wait, and how many workers are there; None on SQLite, and while nobody knows.
    """

    def __init__(
        self,
        assistant: Assistant,
        settings: ServerSettings,
        on_standing: Callable[[Standing | None], None] | None = None,
    ) -> None:
        self.standing: Standing | None = None
        self._on_standing = on_standing
        self._assistant = assistant
        self._settings = settings
        self._wanted = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._scheduled = asyncio.Event()
        self._ticker: Ticker | None = None
        self._worker: Worker | None = None
        self._takes_more = True

    @property
    def under_way(self) -> int:
        """How many jobs go on here."""
        return 0 if self._worker is None else self._worker.under_way

    def drain(self) -> None:
        """Begin nothing more; what goes on here may end."""
        self._takes_more = False
        if self._worker is not None:
            self._worker.take_no_more()

    def start(self) -> None:
        """Look for jobs in the background, if this server is to do any."""
        if self._settings.work_here:
            self._tasks = [
                asyncio.create_task(self._run(), name="jobs"),
                asyncio.create_task(self._tick(), name="schedules"),
            ]
        if not is_sqlite(self._assistant.database.url):
            self._tasks.append(asyncio.create_task(self._watch(), name="jobs-standing"))

    def wake(self) -> None:
        """Announce that a job may be waiting."""
        self._wanted.set()

    def scheduled(self) -> None:
        """Announce that a schedule was added or changed."""
        self._scheduled.set()
        if self._ticker is not None:
            self._ticker.wake()

    async def aclose(self) -> None:
        """Requeue the running jobs, and end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watch(self) -> None:
        """Look how many jobs wait, and how many workers are there."""
        while True:
            try:
                self.standing = await read_standing(self._assistant.database)
            except StoreUnavailable:  # which the readiness of the database says
                self.standing = None
            if self._on_standing is not None:
                self._on_standing(self.standing)
            await asyncio.sleep(STANDING_SECONDS)

    async def _tick(self) -> None:
        """Queue runs when their schedules are due."""
        await _wait(self._scheduled, FIRST_SECONDS)
        while self._assistant.database.is_missing:
            self._scheduled.clear()
            await self._scheduled.wait()
        try:
            await self._assistant.database.open()
        except StoreUnavailable:
            log.warning("schedules.not_looked_at")
        from runtime.jobs.ticker import Ticker

        self._ticker = Ticker(self._assistant.database, self.wake)
        await self._ticker.run()

    async def _run(self) -> None:
        await _wait(self._wanted, FIRST_SECONDS)
        while True:
            self._wanted.clear()
            try:
                if await self._is_waiting():
                    await self._work()
            except StoreUnavailable:
                log.warning("jobs.not_looked_for")
            alone = is_sqlite(self._assistant.database.url)
            await _wait(self._wanted, None if alone else LOOK_SECONDS)

    async def _is_waiting(self) -> bool:
        if self._assistant.database.is_missing or not self._takes_more:
            return False
        await self._assistant.database.open()
        from runtime.jobs.rows import Jobs

        return await Jobs(self._assistant.database).is_anything_left()

    async def _work(self) -> None:
        """Work until nothing was done for some time."""
        from runtime.jobs.worker import Worker, WorkerOptions
        from server.jobs.flow_jobs import FlowJobs

        name = ServerName(self._settings.data)
        flow_jobs = FlowJobs(self._assistant, self._settings)
        options = WorkerOptions(
            queues=("runs",),
            places=self._settings.job_places,
            of_user=self._settings.user_jobs,
            in_all=self._settings.jobs,
            kept=self._settings.jobs_kept * 86_400.0,
        )
        worker = Worker(
            self._assistant.database,
            await asyncio.to_thread(name.take),
            flow_jobs.perform,
            options,
            flow_jobs.accepted,
        )
        log_event("jobs.worker_started", worker=worker.name)
        self._worker = worker
        if not self._takes_more:
            worker.take_no_more()
        working = asyncio.create_task(worker.run(), name="worker")
        try:
            await self._until_idle(worker, working)
            await worker.stop(0)
            await working
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            self._worker = None
            await flow_jobs.aclose()
            name.release()

    async def _until_idle(self, worker: Worker, working: asyncio.Task[None]) -> None:
        while not working.done():
            if await _wait(self._wanted, IDLE_SECONDS):
                self._wanted.clear()
                worker.wake()
            elif not worker.under_way and not await self._is_waiting():
                return


async def _wait(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait for an event, at most so long; returns whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
