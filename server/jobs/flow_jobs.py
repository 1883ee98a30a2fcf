"""Jobs that run flows: one run that somebody or a schedule has asked for, or one input of a batch."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic import Field, JsonValue, TypeAdapter

from agent.assistant import Assistant
from agent.contract.model import Received
from flows.checks import check
from flows.document import Flow, JsonObject
from runtime.database.database import Database
from runtime.files.store import UserFiles
from runtime.jobs.batches import CEILING, Batches
from runtime.jobs.job import Claim, JobKind, Outcome
from runtime.jobs.worker import Perform
from runtime.options import RunOptions
from runtime.results import RunError, RunFailed, RunResult
from runtime.sessions.patient import PatientMemory
from runtime.sessions.run_entry import LoggedRun, RunEntry, RunSource
from runtime.sessions.run_values import kept_values
from runtime.usage.runs import usage_of_run
from server.jobs.notices import notice_policy, tell
from server.settings import ServerSettings
from server.store.flows import FlowNotStored

READY_SECONDS: Final = 120.0
"""How long a job waits for an engine that is still being installed or started."""

TELL_SECONDS: Final = 5.0
"""How long a worker that ends waits for notices of failures to be sent."""

BUSY_SECONDS: Final = 0.5
"""How long a job waits before it asks an engine again that takes no more runs."""

KEPT_FLOWS: Final = 8
"""How many batches' flows a worker keeps in memory."""


class RunGiven(Received):
    """What a job of the kind `run` works on.

    Attributes:
        input_value: the text to type into the chat input.
        timeout: seconds it may take.
        session_id: the conversation that the flow sees.
        tweaks: values for this run alone.
        allow_hosts: hosts that this run may reach.
        source: who has asked for it.
        notify: the address to which its failure is reported, or empty.
        schedule: what has queued it, or empty.
    """

    input_value: str | None = None
    timeout: float = 60.0
    session_id: str | None = None
    tweaks: dict[str, dict[str, JsonValue]] = Field(default_factory=dict[str, dict[str, JsonValue]])
    allow_hosts: tuple[str, ...] = ()
    source: RunSource = "http"
    notify: str = ""
    schedule: str = ""


RUN_GIVEN: Final = TypeAdapter(RunGiven)


@dataclass(frozen=True)
class ReadVariables:
    """The variables of a user, read before the run: that they cannot be is no fault of it.

    Attributes:
        read: the values by name.
    """

    read: Mapping[str, str]

    async def values(self) -> Mapping[str, str]:
        """The values of all variables, by name."""
        return self.read


@dataclass(frozen=True)
class _BatchFlow:
    """The flow of a batch, with the options of its runs."""

    flow: Flow
    given: RunGiven


class FlowJobs:
    """Does jobs that run flows.

    Args:
        assistant: runs them.
        settings: says where users' files are.
    """

    def __init__(self, assistant: Assistant, settings: ServerSettings) -> None:
        self._assistant = assistant
        self._settings = settings
        self._batches = Batches(assistant.database)
        self._flows: dict[tuple[str, str], _BatchFlow] = {}
        self._policy = notice_policy(settings)
        self._telling: set[asyncio.Task[bool]] = set()

    @property
    def perform(self) -> Mapping[JobKind, Perform]:
        """What does jobs, by kind."""
        return {"run": self.run, "item": self.item}

    async def run(self, claim: Claim) -> Outcome:
        """Run a stored flow; what it gave is kept among the runs."""
        given = RUN_GIVEN.validate_python(claim.given)
        try:
            flow = await _stored(self._assistant.database, claim.owner, claim.flow)
        except FlowNotStored:
            return Outcome(error="The flow is not stored any more.")
        entry = RunEntry.begun(
            claim.id,
            given.input_value,
            flow=claim.flow,
            name=flow.name or "Untitled Flow",
            source=given.source,
            session=given.session_id,
        )
        result = await self._result(claim, flow, given)
        detail = await asyncio.to_thread(kept_values, result)
        run = LoggedRun(owner=claim.owner, entry=entry.ended(result), detail=detail)
        return replace(self._outcome(claim, result), run=run)

    async def item(self, claim: Claim) -> Outcome:
        """Run the flow of a batch with one of its inputs."""
        if await self._batches.is_spent(claim.owner, claim.batch):
            return Outcome(error=CEILING)
        of_batch = await self._flow_of(claim)
        given = of_batch.given.model_copy(update=RunGiven.model_validate(claim.given).model_dump(exclude_unset=True))
        return self._outcome(claim, await self._result(claim, of_batch.flow, given))

    async def accepted(self, claim: Claim, outcome: Outcome) -> None:
        """Report the failure of a job to the address that its schedule names."""
        notify = str(claim.given.get("notify") or "")
        if outcome.error is not None and notify:
            notice: JsonObject = {
                "event": "run_failed",
                "job": claim.id,
                "flow": claim.flow,
                "schedule": claim.given.get("schedule", ""),
                "error": outcome.error,
            }
            task = asyncio.create_task(tell(notify, notice, self._policy), name="notice")
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    async def aclose(self) -> None:
        """Wait briefly for notices of failures to be sent."""
        if self._telling:
            _, late = await asyncio.wait(self._telling, timeout=TELL_SECONDS)
            for task in late:
                task.cancel()

    async def _flow_of(self, claim: Claim) -> _BatchFlow:
        """The flow of a batch, which is read once."""
        key = claim.owner, claim.batch
        if key not in self._flows:
            given = await self._batches.given(claim.owner, claim.batch)
            document, options = given["flow"], given["options"]
            assert isinstance(document, dict)  # noqa: S101  (as it is stored)
            while len(self._flows) >= KEPT_FLOWS:
                self._flows.pop(next(iter(self._flows)))
            self._flows[key] = _BatchFlow(Flow.from_json(document), RUN_GIVEN.validate_python(options))
        return self._flows[key]

    async def _result(self, claim: Claim, flow: Flow, given: RunGiven) -> RunResult:
        """What a run gives; a flow that does not pass its checks is not run."""
        runner = self._assistant.runner
        await runner.ready(READY_SECONDS)
        faults = [fault for fault in check(flow, await self._assistant.catalogue()) if fault.is_error]
        if faults:
            error = RunError(code="wiring", message=faults[0].message, fix=faults[0].fix, node=faults[0].node)
            return RunResult.failed(claim.id, RunFailed(error))
        session, sessions = given.session_id, self._assistant.flow_sessions
        variables = ReadVariables(await self._assistant.variables(claim.owner).values())
        options = RunOptions(
            run_id=claim.id,
            timeout=given.timeout,
            session=session,
            memory=None if session is None else PatientMemory(sessions.memory(claim.owner, claim.flow, session)),
            tweaks=given.tweaks,
            hosts=given.allow_hosts,
            want_nodes=claim.kind == "run",
            files=UserFiles(self._settings.data, claim.owner, self._settings.file_limits),
            variables=variables,
            models=await self._assistant.models_of(claim.owner),
        )
        while (result := await runner.execute(flow, given.input_value, options)).busy:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(BUSY_SECONDS)  # the job's own time ends it
        return replace(result, run_id=claim.id)

    def _outcome(self, claim: Claim, result: RunResult) -> Outcome:
        """What came of a run, with what it has used."""
        error = None if result.error is None else f"{result.error.message} {result.error.fix}".strip()
        document = replace(result, nodes={}).to_json()
        tokens = result.metrics.input_tokens + result.metrics.output_tokens
        used = self._assistant.usage_log.keyed(claim.owner, usage_of_run(result))
        return Outcome(result=document, error=error, tokens=tokens, used=used)


async def _stored(database: Database, owner: str, flow: str) -> Flow:
    await database.open()
    from server.store.sql import SqlFlowStore

    return (await SqlFlowStore(database, owner).get(flow)).flow
