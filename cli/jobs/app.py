"""`wirewright jobs`: lists, shows, cancels and retries jobs in the queues."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from typing_extensions import TypeIs

from cli.errors import CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, server_at

if TYPE_CHECKING:
    from cli.jobs.queue import Queue
    from runtime.jobs.job import Job, JobState
    from server.routes.jobs.batches import BatchEntry

T = TypeVar("T")

LISTED = 20
HEADER = ("ID", "SINCE", "STATE", "QUEUE", "FLOW", "")
"""What the columns of a list are, for people."""

commands = CommandGroup("List, show, cancel and retry jobs: runs that wait for a worker, and batches of them.")

JobId = Annotated[
    str,
    typer.Argument(metavar="ID", help="The job or batch, as `jobs list` names it, or the beginning of its id."),
]


@commands.add("list", "wirewright jobs list --limit 5")
def list_jobs(
    limit: Annotated[int, typer.Option(min=1, max=200, metavar="N", help="How many at most.")] = LISTED,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """List the last jobs and batches, latest first. An input of a batch has a job of its own: `jobs show BATCH.7`."""
    from cli.documents.servers import JobList
    from runtime.files.folders import LOCAL_USER

    async def work(queue: "Queue") -> JobList:
        jobs, total = await queue.jobs.page(LOCAL_USER, limit)
        batches, total_batches = await queue.batches.page(limit)
        return JobList(jobs=jobs, total=total, batches=batches, total_batches=total_batches)

    found = _with_queue(server, work)
    if as_json:
        print_json(found)
        return
    rows = sorted([*map(_job_row, found["jobs"]), *map(_batch_row, found["batches"])], key=_since, reverse=True)
    if rows:
        print_rows([*([HEADER] if sys.stdout.isatty() else []), *rows[:limit]])
    else:
        print_message("There is no job.")


@commands.add("show", "wirewright jobs show 3f2a")
def show(job: JobId, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Print how a job or batch stands: on which worker, since when, and why it failed."""
    found = _with_queue(server, lambda queue: queue.found(job))
    if as_json:
        print_json(found)
        return
    for line in _batch_lines(found) if _is_batch(found) else _job_lines(found):
        print_result(line)


@commands.add("cancel", "wirewright jobs cancel 3f2a")
def cancel(job: JobId, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """End a job, or what is left of a batch: what waits at once, what goes on within a second."""

    async def work(queue: "Queue") -> "Job | BatchEntry":
        found = await queue.found(job)
        if _is_batch(found):
            return await queue.batches.cancel(found.id)
        return await queue.jobs.cancel(found.owner, found.id)

    _print_changed(_with_queue(server, work), as_json=as_json)


@commands.add("retry", "wirewright jobs retry 3f2a")
def retry(job: JobId, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Queue a job again that has failed or was cancelled, or all such inputs of a batch."""

    async def work(queue: "Queue") -> "Job | BatchEntry":
        found = await queue.found(job)
        if _is_batch(found):
            return await queue.batches.retry(found.id)
        return await queue.jobs.retry(found.owner, found.id)

    _print_changed(_with_queue(server, work), as_json=as_json)


def _is_batch(found: "Job | BatchEntry") -> "TypeIs[BatchEntry]":
    from runtime.jobs.job import Job

    return not isinstance(found, Job)


def _print_changed(found: "Job | BatchEntry", *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    elif _is_batch(found):
        print_message(f"The batch {found.id}: {_counted(found)}.")
    else:
        state = "is being cancelled" if found.state == "running" else f"is {found.state}"
        print_message(f"The job {state}: {found.id}.")


def _job_row(job: "Job") -> tuple[str, ...]:
    begun = job.started_at or job.queued_at
    return (job.id, begun[:19], job.state, job.queue, job.name or job.flow, job.error or job.worker)


def _batch_row(batch: "BatchEntry") -> tuple[str, ...]:
    return (batch.id, batch.created_at[:19], _state(batch), "batch", batch.name, _counted(batch))


def _since(row: tuple[str, ...]) -> str:
    return row[1]


def _state(batch: "BatchEntry") -> "JobState":
    """How a batch stands, in the words for jobs: it has failed when an input has."""
    order: tuple[JobState, ...] = ("running", "queued", "failed", "cancelled")
    if not batch.ended and batch.counts.keys() & {"running", "done", "failed"}:
        return "running"
    found: JobState | None = next((state for state in order if batch.counts.get(state)), None)
    return found or "done"


def _counted(batch: "BatchEntry") -> str:
    """How many inputs of a batch are in each state."""
    of_them = ", ".join(f"{count} {state}" for state, count in batch.counts.items())
    return f"{batch.total} {'input' if batch.total == 1 else 'inputs'}: {of_them}"


def _batch_lines(batch: "BatchEntry") -> Iterator[str]:
    yield f"{batch.id}\nBatch of {batch.name}, version {batch.version}: {_state(batch)}"
    yield f"Begun:  {batch.created_at}"
    yield f"Counts: {_counted(batch)}"
    ceiling = "" if batch.ceiling_tokens is None else f" of at most {batch.ceiling_tokens:,}"
    yield f"Tokens: {batch.tokens:,}{ceiling}"
    if batch.reason:
        yield f"Ended early: {batch.reason}"
    if batch.counts.get("failed") or batch.counts.get("cancelled"):
        yield f"Again:  wirewright jobs retry {batch.id}"
    yield f"An input: wirewright jobs show {batch.id}.0"


def _job_lines(job: "Job") -> Iterator[str]:
    tries = "once" if job.attempts == 1 else f"{job.attempts} times"
    begun = f", begun {tries}" if job.attempts else ""
    yield f"{job.id}\n{job.kind} in the queue {job.queue}: {job.state}{begun}"
    if job.name or job.flow:
        yield f"Flow:   {job.name or job.flow}"
    yield f"Queued: {job.queued_at}"
    if job.started_at is not None:
        yield f"Begun:  {job.started_at} by {job.worker}"
    if job.ended_at is not None:
        yield f"Ended:  {job.ended_at}"
    if job.error is not None:
        yield f"Error:  {job.error}"
    if job.run:
        yield f"Result: wirewright runs show {job.run}"


def _with_queue(server: str | None, work: "Callable[[Queue], Awaitable[T]]") -> T:
    """Work on the jobs and batches of the server that is named, or else of this machine."""
    from cli.jobs.queue import opened_queue
    from runtime.jobs.errors import JobError

    found = server_at(server)

    async def working() -> T:
        async with opened_queue(found) as queue:
            return await work(queue)

    try:
        return asyncio.run(working())
    except JobError as refused:
        raise CommandError(refused.code, refused.message, fix=refused.fix) from None
