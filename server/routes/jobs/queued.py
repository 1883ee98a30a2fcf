"""Jobs over HTTP: the user's are listed, read, cancelled and tried again."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pydantic import JsonValue, field_validator
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import Page, Received
from runtime.jobs.job import Job, JobKind, JobState, QueueName
from server.access.caller import caller_of
from server.json_response import JsonResponse
from server.requests.operation import operation
from server.requests.page import PageQuery, paging, queried
from server.state import server_state

if TYPE_CHECKING:
    from runtime.jobs.rows import Jobs

JOBS = "/api/v1/jobs"


class JobQuery(PageQuery):
    """Asks for a page of jobs.

    Attributes:
        state: how they stand; null for all.
    """

    state: JobState | None = None

    @field_validator("state", mode="before")
    @classmethod
    def _none_if_empty(cls, given: object) -> object:
        return given or None


class JobPage(Page):
    """Jobs, latest first, but those of batches."""

    jobs: list[Job]


class KeptJob(Received):
    """A job with what it gave.

    Attributes:
        id: unique for its user.
        kind: what it is.
        queue: where it waits, or waited.
        rank: which of a queue's jobs go first: the lower ones.
        state: how it stands.
        flow: the stored flow that it is about, or empty.
        batch: the batch that it belongs to, or empty.
        position: its place in the batch.
        worker: who does it, or did; empty while nobody has begun.
        attempts: how often it was begun.
        queued_at: when it was queued, ISO 8601 in UTC.
        started_at: when it was begun last; null while nobody has begun.
        ended_at: when it ended; null before.
        error: why it failed; null if it did not.
        run: the id of the run that has its result, or empty.
        name: the name of the flow now; empty when it is about none that is stored.
        result: what it gave; null while it goes on, and if it gave nothing.
    """

    id: str
    kind: JobKind
    queue: QueueName
    rank: int
    state: JobState
    flow: str
    batch: str
    position: int
    worker: str
    attempts: int
    queued_at: str
    started_at: str | None
    ended_at: str | None
    error: str | None
    run: str
    name: str
    result: dict[str, JsonValue] | None


class AllJobs(HTTPEndpoint):
    """All jobs."""

    @operation(JobPage, query=JobQuery)
    async def get(self, request: Request) -> Response:
        """One page of them, latest first, but those of batches."""
        asked = queried(JobQuery, request)
        found, total = await (await jobs_of(request)).page(request.user.id, asked.limit, asked.offset, asked.state)
        return JsonResponse(JobPage.model_validate({"jobs": found, **paging(request, asked, total)}))


@operation(KeptJob)
async def read(request: Request) -> Response:
    """How a job stands, and what it gave."""
    jobs, job = await jobs_of(request), request.path_params["job_id"]
    return JsonResponse(await _kept(jobs, await jobs.get(request.user.id, job)))


@operation(KeptJob, errors=(409,))
async def cancel(request: Request) -> Response:
    """End a job: one that waits at once, one that goes on within a second."""
    jobs = await jobs_of(request)
    found = await jobs.cancel(request.user.id, request.path_params["job_id"])
    server_state(request).jobs.wake()
    return JsonResponse(await _kept(jobs, found))


@operation(KeptJob, errors=(409,))
async def retry(request: Request) -> Response:
    """Queue a job again that has failed or was cancelled."""
    jobs = await jobs_of(request)
    found = await jobs.retry(request.user.id, request.path_params["job_id"])
    server_state(request).jobs.wake()
    return JsonResponse(await _kept(jobs, found))


async def jobs_of(request: Request) -> Jobs:
    """The jobs of this server's database, which is opened when it is first needed."""
    caller = caller_of(request)
    await caller.assistant.database.open()
    from runtime.jobs.rows import Jobs

    return Jobs(caller.assistant.database, caller.settings.user_queued_jobs)


async def _kept(jobs: Jobs, job: Job) -> KeptJob:
    """A job as it is read; a run's result is among the runs, too."""
    return KeptJob.model_validate({**asdict(job), "result": await jobs.result(job.owner, job.id)})


routes = [
    Route(JOBS, AllJobs),
    Route(f"{JOBS}/{{job_id}}", read, methods=["GET"]),
    Route(f"{JOBS}/{{job_id}}/cancel", cancel, methods=["POST"]),
    Route(f"{JOBS}/{{job_id}}/retry", retry, methods=["POST"]),
]
