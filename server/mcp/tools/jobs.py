"""The user's jobs: queued runs and turns, listed, read, cancelled and tried again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import Field

from flows.document import JsonObject
from runtime.jobs.errors import JobError
from runtime.jobs.job import Job, JobState
from server.mcp.answers import Answer, shortened
from server.mcp.call import Call, fail
from server.mcp.tools.tool import Arguments, Tool, own_tool

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from runtime.jobs.rows import Jobs


class ListJobs(Arguments):
    """Asks for jobs."""

    state: JobState | None = Field(default=None, description="Only those that stand so.")
    limit: int = Field(default=20, ge=1, le=100, description="How many.")
    offset: int = Field(default=0, ge=0, le=100_000, description="How many to skip.")


class OneJob(Arguments):
    """Names a job."""

    job_id: str = Field(min_length=1, max_length=200, description="The job, as list_jobs gives it.")


class JobList(Answer):
    """Jobs, latest first.

    Attributes:
        jobs: one page of them.
        total: how many there are.
    """

    jobs: list[Job]
    total: int


class JobAnswer(Answer):
    """One job.

    Attributes:
        job: as it stands.
    """

    job: Job


async def list_jobs(call: Call, asked: ListJobs) -> JobList:
    """List the user's queued runs and turns, latest first, but those of batches, each with how it stands."""
    found, total = await (await _jobs(call)).page(call.caller.id, asked.limit, asked.offset, asked.state)
    return JobList(text="\n".join([f"{total} job(s).", *map(_line, found)]), jobs=found, total=total)


async def get_job(call: Call, asked: OneJob) -> JobAnswer:
    """Read how a queued run or turn stands, and what it gave."""
    jobs = await _jobs(call)
    job = await _found(jobs.get(call.caller.id, asked.job_id))
    return _answer(job, await jobs.result(call.caller.id, job.id))


async def cancel_job(call: Call, asked: OneJob) -> JobAnswer:
    """End a queued run or turn: one that waits at once, one that goes on within a second."""
    job = await _found((await _jobs(call)).cancel(call.caller.id, asked.job_id))
    call.caller.state.jobs.wake()
    return _answer(job)


async def retry_job(call: Call, asked: OneJob) -> JobAnswer:
    """Queue a run or turn again that has failed or was cancelled."""
    job = await _found((await _jobs(call)).retry(call.caller.id, asked.job_id))
    call.caller.state.jobs.wake()
    return _answer(job)


async def _jobs(call: Call) -> Jobs:
    await call.caller.assistant.database.open()
    from runtime.jobs.rows import Jobs

    return Jobs(call.caller.assistant.database, call.caller.settings.user_queued_jobs)


async def _found(job: Awaitable[Job]) -> Job:
    """A job that is there, and with which can be done what was asked.

    Raises:
        ToolFailed: it is not, or cannot.
    """
    try:
        return await job
    except JobError as refused:
        fail(f"{refused.message} {refused.fix}", refused.code)


def _answer(job: Job, result: JsonObject | None = None) -> JobAnswer:
    lines = [_line(job)]
    if job.error:
        lines.append(f"It failed: {job.error}")
    if result is not None:
        lines.append(f"It gave: {json.dumps(result, ensure_ascii=False)}")
    return JobAnswer(text=shortened("\n".join(lines), "The job's run has it."), job=job)


def _line(job: Job) -> str:
    of_flow = f" of the flow {job.flow}" if job.flow else ""
    where = f" on {job.worker}" if job.worker and job.state == "running" else ""
    return f"{job.id}: {job.kind}{of_flow}, {job.state}{where}, queued at {job.queued_at}"


def job_tools() -> list[Tool]:
    """The tools."""
    return [
        own_tool(list_jobs, ListJobs, JobList, group=("canvas", "system")),
        own_tool(get_job, OneJob, JobAnswer, group=("canvas", "system")),
        own_tool(cancel_job, OneJob, JobAnswer, group="canvas", scope="run", touch="changes"),
        own_tool(retry_job, OneJob, JobAnswer, group="canvas", scope="run", touch="changes", outbound=True),
    ]
