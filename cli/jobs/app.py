"""`wirewright jobs`: lists, shows, cancels and retries jobs in the queues."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cli.errors import CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, server_at

if TYPE_CHECKING:
    from cli.remote.stores.jobs import RemoteJobs
    from runtime.jobs.job import Job
    from runtime.jobs.rows import Jobs

T = TypeVar("T")

LISTED = 20
FOUND = 200
"""How many jobs the beginning of an id is looked for in."""

commands = CommandGroup("List, show, cancel and retry jobs: runs that wait for a worker.")

JobId = Annotated[
    str, typer.Argument(metavar="ID", help="The job, as `jobs list` names it, or the beginning of its id.")
]


@commands.add("list", "wirewright jobs list --limit 5")
def list_jobs(
    limit: Annotated[int, typer.Option(min=1, max=200, metavar="N", help="How many at most.")] = LISTED,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """List the last jobs, latest first, but the inputs of batches."""
    from cli.documents.running import JobList
    from runtime.files.folders import LOCAL_USER

    found, total = _with_jobs(server, lambda jobs: jobs.page(LOCAL_USER, limit))
    if as_json:
        print_json(JobList(jobs=found, total=total))
        return
    print_rows(map(_row, found))
    if not found:
        print_message("There is no job.")


@commands.add("show", "wirewright jobs show 3f2a")
def show(job: JobId, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Print how a job stands: on which worker, since when, and why it failed."""
    found = _with_jobs(server, lambda jobs: _found(jobs, job))
    if as_json:
        print_json(found)
        return
    print_result(f"{found.id}\n{found.kind} in the queue {found.queue}: {found.state}, begun {found.attempts} times")
    print_result(f"Queued: {found.queued_at}")
    if found.started_at is not None:
        print_result(f"Begun:  {found.started_at} by {found.worker}")
    if found.ended_at is not None:
        print_result(f"Ended:  {found.ended_at}")
    if found.error is not None:
        print_result(f"Error:  {found.error}")
    if found.run:
        print_result(f"Result: wirewright runs show {found.run}")


@commands.add("cancel", "wirewright jobs cancel 3f2a")
def cancel(job: JobId, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """End a job: one that waits at once, one that goes on within a second."""

    async def work(jobs: "Jobs | RemoteJobs") -> "Job":
        found = await _found(jobs, job)
        return await jobs.cancel(found.owner, found.id)

    _print_changed(_with_jobs(server, work), as_json=as_json)


@commands.add("retry", "wirewright jobs retry 3f2a")
def retry(job: JobId, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Queue a job again that has failed or was cancelled."""

    async def work(jobs: "Jobs | RemoteJobs") -> "Job":
        found = await _found(jobs, job)
        return await jobs.retry(found.owner, found.id)

    _print_changed(_with_jobs(server, work), as_json=as_json)


def _print_changed(job: "Job", *, as_json: bool) -> None:
    if as_json:
        print_json(job)
        return
    state = "is being cancelled" if job.state == "running" else f"is {job.state}"
    print_message(f"The job {state}: {job.id}.")


def _row(job: "Job") -> tuple[str, ...]:
    begun = job.started_at or job.queued_at
    return (job.id, begun[:19], job.state, job.queue, job.error or job.worker)


def _with_jobs(server: str | None, work: "Callable[[Jobs | RemoteJobs], Awaitable[T]]") -> T:
    """Work on the jobs of the server that is named, or else of this machine."""
    from runtime.jobs.errors import JobError

    found = server_at(server)

    async def working() -> T:
        if found is not None:
            from cli.remote.stores.jobs import RemoteJobs

            return await work(RemoteJobs(found))
        from cli.database import opened_database

        async with opened_database() as database:
            await database.open()
            from runtime.jobs.rows import Jobs

            return await work(Jobs(database))

    try:
        return asyncio.run(working())
    except JobError as refused:
        raise CommandError(refused.code, refused.message, fix=refused.fix) from None


async def _found(jobs: "Jobs | RemoteJobs", name: str) -> "Job":
    """The job with an id, or whose id alone begins so.

    Raises:
        CommandError: there is none, or there are several.
    """
    from runtime.files.folders import LOCAL_USER

    entries, _ = await jobs.page(LOCAL_USER, FOUND)
    found = [one for one in entries if one.id.startswith(name)]
    exact = [one for one in found if one.id == name]
    if not found or not name:
        return await jobs.get(LOCAL_USER, name)  # such as an input of a batch, which the list leaves out
    if len(found) > 1 and not exact:
        message = f"{len(found)} jobs begin with {name!r}."
        raise CommandError("job_ambiguous", message, fix=f"Write more of its id, such as {found[0].id}.")
    return (exact or found)[0]
