"""A run that a client waits for at a server which leaves all work to workers."""

from __future__ import annotations

import asyncio
from typing import Final
from uuid import uuid4

from agent.contract.requests import RunRequest
from flows.document import JsonObject
from runtime.jobs.errors import JobHasEnded
from runtime.results import RunError, RunFailed, RunResult
from server.access.caller import Caller

FIRST_SECONDS: Final = 0.03
"""After how long it is looked for the first time whether the run has ended."""

LONGEST_SECONDS: Final = 0.5
"""How often it is looked for at least; in between, the pauses grow by half."""

WAIT_SECONDS: Final = 600.0
"""How long the run may wait for the engine of its worker, beside its own time."""


class QueuedRun:
    """A job of the kind `run`, as the client that requested it sees it.

    Args:
        caller: who has.
        job: its id.
        queued_at: when it was queued.
    """

    def __init__(self, caller: Caller, job: str, queued_at: str) -> None:
        self._caller = caller
        self.id = job
        self.queued_at = queued_at

    @property
    def url(self) -> str:
        """Its path."""
        return f"/api/v1/jobs/{self.id}"

    @classmethod
    async def add(cls, caller: Caller, flow: str, asked: RunRequest) -> QueuedRun:
        """Queue a run that a person waits for.

        Args:
            caller: who asks for it.
            flow: the stored flow.
            asked: what is asked for.

        Raises:
            QueueFull: too many jobs of the user wait.
        """
        await caller.assistant.database.open()
        from runtime.jobs.job import NewJob
        from runtime.jobs.rows import Jobs

        jobs, job = Jobs(caller.assistant.database, caller.settings.user_queued_jobs), uuid4().hex
        given: JsonObject = asked.model_dump(mode="json", exclude={"stream", "wait", "nodes"}, exclude_none=True)
        seconds = asked.timeout + WAIT_SECONDS
        await jobs.add(
            [NewJob(id=job, owner=caller.id, kind="run", queue="runs", flow=flow, seconds=seconds, given=given)]
        )
        return cls(caller, job, (await jobs.get(caller.id, job)).queued_at)

    async def wait(self) -> RunResult | None:
        """Its result, once it has ended; None when it was cancelled."""
        from runtime.jobs.rows import Jobs

        jobs, pause = Jobs(self._caller.assistant.database), FIRST_SECONDS
        while not (found := await jobs.get(self._caller.id, self.id)).has_ended:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_SECONDS)
        if found.state == "cancelled":
            return None
        result = await jobs.result(self._caller.id, self.id)
        if result is not None:
            return RunResult.from_json(result)
        error = RunError(code="crash", message=found.error or "It has failed.", fix="Run it again.")
        return RunResult.failed(self.id, RunFailed(error))

    async def cancel(self) -> None:
        """Cancel it, since no client waits for it any more."""
        from runtime.jobs.rows import Jobs

        try:
            await Jobs(self._caller.assistant.database).cancel(self._caller.id, self.id)
        except JobHasEnded:
            return
