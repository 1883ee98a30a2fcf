"""A worker as a process of its own: it shares Postgres with servers and other workers, and listens on no port."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack

from agent.assistant import Assistant
from runtime.database.backends.urls import is_sqlite
from runtime.jobs.job import JobKind, QueueName
from runtime.jobs.ticker import Ticker
from runtime.jobs.worker import Perform, Worker, WorkerOptions
from runtime.telemetry import log_event
from server.jobs.flow_jobs import FlowJobs
from server.settings import ServerSettings
from server.streams.elsewhere import ServerName


class CannotWork(Exception):
    """The worker cannot start; the message and the fix are for the user."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


async def work(
    settings: ServerSettings,
    queues: Sequence[QueueName],
    ready: Callable[[str], None],
    more: Mapping[JobKind, Perform] | None = None,
) -> None:
    """Do jobs until SIGTERM or SIGINT; running jobs may then finish, and are requeued otherwise.

    Args:
        settings: the settings, as of a server.
        queues: the queues that it takes jobs from.
        ready: called with its name once it works.
        more: does jobs of further kinds.

    Raises:
        CannotWork: the database is an SQLite file.
        StoreUnavailable: the database cannot be used.
    """
    if is_sqlite(settings.database_url):
        raise CannotWork(
            "Workers share a Postgres with the servers, and the database is an SQLite file, which belongs to one "
            "process: a server on it does its jobs itself.",
            "Set WIREWRIGHT_DATABASE to a Postgres, or start only the server: wirewright serve",
        )
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    settings = settings.model_copy(update={"concurrency": max(settings.concurrency, settings.job_places)})
    async with AsyncExitStack() as stack:
        assistant = await stack.enter_async_context(Assistant.open(settings))
        await assistant.database.open()
        name = ServerName(settings.data)
        stack.callback(name.release)
        jobs = FlowJobs(assistant, settings)
        worker = Worker(
            assistant.database,
            await asyncio.to_thread(name.take),
            {**jobs.perform, **(more or {})},
            WorkerOptions(
                queues=queues,
                places=settings.job_places,
                of_user=settings.user_jobs,
                in_all=settings.jobs,
                kept=settings.jobs_kept * 86_400.0,
            ),
            jobs.accepted,
        )
        stack.push_async_callback(jobs.aclose)
        working = asyncio.create_task(worker.run(), name="worker")
        ticking = asyncio.create_task(Ticker(assistant.database, worker.wake).run(), name="schedules")
        stack.callback(ticking.cancel)
        stopping = asyncio.create_task(stop.wait(), name="worker-stop")
        ready(worker.name)
        log_event("jobs.worker_started", worker=worker.name, queues=list(queues), places=settings.job_places)
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not working.done():
            log_event("jobs.worker_draining", under_way=worker.under_way, seconds=settings.drain_seconds)
            left = await worker.stop(settings.drain_seconds)
            log_event("jobs.worker_drained", logging.WARNING if left else logging.INFO, given_back=left)
        await working
