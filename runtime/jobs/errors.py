"""What is refused of jobs."""

from __future__ import annotations

from runtime.jobs.job import Job


class JobError(Exception):
    """Something is refused; the message and the fix are for the user.

    Attributes:
        code: names the reason.
        message: says what is wrong.
        fix: says what to do.
    """

    code = "job_refused"

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class IdReused(JobError):
    """The id of a batch, or of a webhook's call, names another one already."""

    code = "id_reused"

    def __init__(self, what: str, name: str, differs: str) -> None:
        super().__init__(
            f"The id {name!r} names another {what} already: {differs}.",
            f"Use a new id for each {what}; repeat an id only with the same content.",
        )


class JobNotFound(JobError):
    """There is no such job."""

    code = "job_not_found"

    def __init__(self, job: str) -> None:
        shown = job if len(job) <= 80 else f"{job[:80]}…"
        fix = "`wirewright jobs list` and GET /api/v1/jobs show those that are kept."
        super().__init__(f"There is no job {shown!r}.", fix)


class JobHasEnded(JobError):
    """A job that is over cannot be cancelled."""

    code = "job_ended"

    def __init__(self, job: Job) -> None:
        super().__init__(f"The job has ended already: {job.state}.", "Nothing is left to cancel.")


class JobGoesOn(JobError):
    """A job that waits, goes on or is done cannot be tried again."""

    code = "job_not_failed"

    def __init__(self, job: Job) -> None:
        super().__init__(
            f"The job is {job.state}, so it is not tried again.", "Only a job that has failed or was cancelled is."
        )


class TurnNotRetried(JobError):
    """The job of a turn cannot be queued again: its turn has ended, with all that its user was told."""

    code = "turn_not_retried"

    def __init__(self, job: Job) -> None:
        super().__init__(
            f"The job is a turn of the assistant that is {job.state}, and a turn that has ended is not taken again.",
            "Send the message again: it begins another turn.",
        )


class QueueFull(JobError):
    """Too many jobs of a user wait."""

    code = "queue_full"

    def __init__(self, waits: int, limit: int) -> None:
        super().__init__(
            f"{waits} jobs of yours wait already, and at most {limit} may.",
            "Wait until some have ended, or cancel those that are not needed.",
        )


class BatchNotFound(JobError):
    """There is no such batch."""

    code = "batch_not_found"

    def __init__(self, batch: str) -> None:
        shown = batch if len(batch) <= 80 else f"{batch[:80]}…"
        fix = "`wirewright jobs list` and GET /api/v1/batches show those that are kept."
        super().__init__(f"There is no batch {shown!r}.", fix)


class BadSchedule(JobError):
    """A schedule cannot be read.

    Attributes:
        where: the JSON path of what is wrong in a request for one.
    """

    code = "invalid_schedule"

    def __init__(self, message: str, fix: str, where: str = "$.cron") -> None:
        super().__init__(message, fix)
        self.where = where


class ScheduleNotFound(JobError):
    """There is no such schedule or webhook."""

    code = "schedule_not_found"

    def __init__(self, schedule: str) -> None:
        shown = schedule if len(schedule) <= 80 else f"{schedule[:80]}…"
        fix = "`wirewright flow schedule list` and GET /api/v1/schedules show yours."
        super().__init__(f"There is no schedule {shown!r}.", fix)


class WebhookRefused(JobError):
    """A webhook was called with a wrong token, or is not there, which nobody learns."""

    code = "webhook_refused"

    def __init__(self) -> None:
        super().__init__(
            "There is no such webhook, or its token is another one.", "Send it as Authorization: Bearer whk_…"
        )
