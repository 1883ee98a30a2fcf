"""A worker as a process of its own: it shares Postgres with servers and other workers, and listens on no port."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack

from agent.assistant import Assistant
from runtime.database.backends.serving import name_connections
from runtime.database.backends.urls import is_sqlite
from runtime.jobs.job import JobKind, QueueName
from runtime.jobs.ticker import Ticker
from runtime.jobs.worker import Perform, Worker, WorkerOptions
from runtime.telemetry import log_event
from server.drain import Drain
from server.durable.installed import MESSAGE, is_installed
from server.jobs.flow_jobs import FlowJobs
from server.readiness import DatabaseProbe
from server.settings import ServerSettings
from server.state import ServerState
from server.streams.elsewhere import ServerName
from server.streams.running import RunningTurns


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
    assistant: Assistant | None = None,
) -> None:
    """Do jobs until SIGTERM or SIGINT; running jobs may then finish, and are requeued otherwise.

    Args:
        settings: the settings, as of a server.
        queues: the queues that it takes jobs from.
        ready: called with its name once it works.
        more: does jobs of further kinds.
        assistant: takes turns and runs flows; None opens one.

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
    name_connections(settings.database_url)
    if "turns" in queues and not is_installed():
        raise CannotWork(
            f"{MESSAGE[:-1]}, and the queue `turns` was asked for.",
            "Install it: uv pip install 'wirewright[durable]'. Or leave turns out: --queues runs,evals",
        )
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    settings = settings.model_copy(
        update={
            "concurrency": max(settings.concurrency, settings.job_places),
            **({"durable": True, "memory": "file"} if "turns" in queues else {}),
        }
    )
    async with AsyncExitStack() as stack:
        assistant = assistant or await stack.enter_async_context(Assistant.open(settings))
        await assistant.database.open()
        name = ServerName(settings.data)
        stack.callback(name.release)
        jobs = FlowJobs(assistant, settings)
        turns: Mapping[JobKind, Perform] = {}
        if "turns" in queues:
            turns = await _turns(stack, assistant, settings, stop)
        worker = Worker(
            assistant.database,
            await asyncio.to_thread(name.take),
            {**jobs.perform, **turns, **(more or {})},
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


async def _turns(
    stack: AsyncExitStack, assistant: Assistant, settings: ServerSettings, stopping: asyncio.Event
) -> Mapping[JobKind, Perform]:
    """What does jobs that are turns, until the stack is closed: turns that go on then are left to other workers."""
    from server.durable.turn_jobs import TurnJobs
    from server.durable.turns import DurableTurns, open_durable
    from server.turns import AssistTurn

    running = RunningTurns(
        assistant.database,
        asyncio.Event(),
        grace=settings.turn_grace,
        kept=settings.turn_events_kept,
        data=settings.data,
        durable=True,
        queued=settings.user_queued_jobs,
    )
    state = ServerState(settings, assistant, stopping, Drain(), DatabaseProbe(assistant.database), running)
    stack.push_async_callback(running.aclose)
    stack.push_async_callback(await open_durable(state, AssistTurn.of_parts))
    assert isinstance(state.durable, DurableTurns)  # noqa: S101  (just opened; narrows the type)
    return {"turn": TurnJobs(state, state.durable).turn}
