"""Running stored flows over HTTP, on the engine in another process: as one reply, as a stream, or without waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from uuid import uuid4

from sse_starlette.sse import EventSourceResponse
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.endings import cancelled
from agent.contract.requests import RunRequest
from agent.contract.runs import RunComplete, RunStarted, RunStreamEvent
from flows.document import Flow
from runtime.gateway.models import Models
from runtime.options import OnEvent, RunOptions
from runtime.results import RunError, RunFailed, RunMetrics, RunResult
from runtime.sessions.patient import PATIENCE_SECONDS, PatientMemory
from runtime.sessions.run_entry import RunEntry
from runtime.usage.runs import usage_of_run
from server.access.caller import Caller, caller_of
from server.errors import ApiError, ClientGone, not_ready
from server.jobs.queued_run import QueuedRun
from server.json_response import JsonResponse
from server.limits.admission import admit_run
from server.limits.budget import tokens_left
from server.limits.slots import Slot
from server.requests.body import read_object, validated
from server.requests.disconnect import ServerStopping, TimeIsOver, until, while_connected
from server.requests.operation import operation
from server.runs.checked import errors_of
from server.runs.live import Execute, LiveRun
from server.store.flows import FlowNotStored, StoredFlow
from server.streams.response import GRACE_SECONDS, PING_SECONDS
from server.streams.sse import file_written, frame
from tools.json_types import RunJson
from tools.workbench import wait_for_runner
from tools.written_files import written_by_run

READY_SECONDS = 30.0
"""How long a run waits for a runner that is still starting."""

TOO_SLOW = RunError(code="timeout", message="The run took longer than it may.", fix="Ask for less at a time.")
"""Why a run ended whose place was taken from it."""

RUNS = "/api/v1/runs"


@operation(
    RunJson,
    body=RunRequest,
    also={202: RunStarted},
    events=RunStreamEvent,
    headers=("Location",),
    errors=(409, 429, 504),
    body_optional=True,
)
async def run(request: Request) -> Response:
    """Run a stored flow once; a flow that fails is a reply with `ok: false`.

    As a stream, each event is a JSON object whose `event` is `node_started`, `node_finished`, `token`, `cut`,
    `file_written`, or at the end `complete` with the reply under `data`. Too many runs at once are a 503. With
    `wait: false` the reply is 202 with the run's id, as soon as it has begun.
    """
    caller = caller_of(request)
    asked = validated(RunRequest, await read_object(request, caller.settings.body_limit, optional=True))
    stored, models = await asyncio.gather(
        _stored(caller, request.path_params["flow_id"]), caller.assistant.models_of(caller.id)
    )
    refusal = await while_connected(request, caller.stopping, _refusal(caller, stored.flow))
    streams = asked.stream or _wants_stream(request)
    if refusal is not None:
        return stream_of(_refused(refusal)) if streams and asked.wait else JsonResponse(refusal.to_json())
    if not caller.settings.work_here:
        return await _by_worker(request, caller, stored, asked, streams=streams)
    slot = await admit_run(caller)
    try:
        live = await _start(caller, stored, asked, models, slot)
    except BaseException:
        slot.release()
        raise
    if live.result is not None and live.result.busy and live.result.error is not None:
        raise not_ready("busy", live.result.error.message, live.result.error.fix)
    if not asked.wait:
        place = f"{RUNS}/{live.entry.id}"
        reply = RunStarted(id=live.entry.id, state=live.entry.state, started_at=live.entry.started_at, url=place)
        return JsonResponse(reply, 202, {"Location": place})
    if streams:
        return stream_of(_owned(live, caller, nodes=asked.nodes))
    try:
        result = await while_connected(request, caller.stopping, live.wait())
    except (ClientGone, ApiError):
        await live.cancel("interrupted" if caller.stopping.is_set() else "cancelled")
        raise
    if result is None:
        raise ApiError(409, "run_cancelled", "The run was cancelled.", "Run it again, if it is still wanted.")
    if result.busy and result.error is not None:
        raise not_ready("busy", result.error.message, result.error.fix)
    if result.error is TOO_SLOW:
        raise ApiError(504, TOO_SLOW.code, TOO_SLOW.message, TOO_SLOW.fix)
    return JsonResponse(_asked_for(result, nodes=asked.nodes).to_json())


async def _by_worker(
    request: Request, caller: Caller, stored: StoredFlow, asked: RunRequest, *, streams: bool
) -> Response:
    """A run that a worker does; its stream has the end alone."""
    await tokens_left(caller.assistant.usage_log, caller.settings, caller.id)
    queued = await QueuedRun.add(caller, stored.entry.id, asked)
    if not asked.wait:
        reply = RunStarted(id=queued.id, state="running", started_at=queued.queued_at, url=queued.url)
        return JsonResponse(reply, 202, {"Location": queued.url})
    try:
        result = await while_connected(request, caller.stopping, queued.wait())
    except (ClientGone, ApiError):
        await queued.cancel()
        raise
    if result is None:
        raise ApiError(409, "run_cancelled", "The run was cancelled.", "Run it again, if it is still wanted.")
    return stream_of(_refused(result)) if streams else JsonResponse(result.to_json())


async def _stored(caller: Caller, flow_id: str) -> StoredFlow:
    return await (await caller.flows()).get(flow_id)


async def _start(caller: Caller, stored: StoredFlow, asked: RunRequest, models: Models | None, slot: Slot) -> LiveRun:
    """Begin a run, which is kept in the log of runs.

    Raises:
        StoreUnavailable: nobody waits for it, and it cannot be stored that it has begun.
    """
    flow_id, session, sessions = stored.entry.id, asked.session_id, caller.assistant.flow_sessions
    entry = RunEntry.begun(
        uuid4().hex, asked.input_value, flow=flow_id, name=stored.entry.name, source="http", session=session
    )
    options = RunOptions(
        run_id=entry.id,
        timeout=asked.timeout,
        session=session,
        memory=None
        if session is None
        else PatientMemory(sessions.memory(caller.id, flow_id, session), PATIENCE_SECONDS),
        tweaks=asked.tweaks,
        hosts=asked.allow_hosts,
        want_nodes=True,  # they are kept; the reply has them when they are asked for
        files=caller.files,
        variables=caller.variables,
        models=models,
    )
    return await caller.state.live_runs.start(
        caller.id, entry, _execute(caller, stored, asked.input_value, options, slot), stored=not asked.wait
    )


def _execute(caller: Caller, stored: StoredFlow, text: str | None, options: RunOptions, slot: Slot) -> Execute:
    """Runs a flow for as long as it has its place."""

    async def execute(on_event: OnEvent) -> RunResult:
        work = caller.assistant.runner.execute(stored.flow, text, replace(options, on_event=on_event))
        try:
            result = await slot.within(work)
        except TimeIsOver:
            return RunResult.failed(options.run_id or "", RunFailed(TOO_SLOW))
        if not result.busy:
            caller.assistant.usage_log.record(caller.id, usage_of_run(result))
        if options.session is not None:
            await _forget_unless_stored(caller, stored.entry.id)
        return result

    return execute


async def _forget_unless_stored(caller: Caller, flow_id: str) -> None:
    """Delete what a run remembered of a flow that was deleted while it ran."""
    try:
        await (await caller.flows()).get(flow_id)
    except FlowNotStored:
        await caller.assistant.flow_sessions.remove_flow(caller.id, flow_id)


async def _refusal(caller: Caller, flow: Flow) -> RunResult | None:
    """The result for a flow that does not pass its checks, or None.

    Raises:
        ApiError: 503, flows cannot be run yet.
    """
    unavailable = await wait_for_runner(caller.assistant.runner, READY_SECONDS)
    if unavailable is not None:
        raise not_ready("runner_not_ready", unavailable.message, unavailable.fix)
    faults = errors_of(flow, await caller.assistant.catalogue())
    if not faults:
        return None
    first = RunError(code="wiring", message=faults[0].message, fix=faults[0].fix, node=faults[0].node)
    metrics = RunMetrics(seconds=0)
    return RunResult(run_id=str(uuid4()), output=None, outputs={}, metrics=metrics, error=first, faults=faults)


def _asked_for(result: RunResult, *, nodes: bool) -> RunResult:
    """A result as its request wants it: with every node's value, or those of the outputs alone."""
    return result if nodes else replace(result, nodes={})


async def _refused(refusal: RunResult) -> AsyncGenerator[bytes]:
    yield frame(RunComplete(data=refusal))


async def _owned(live: LiveRun, caller: Caller, *, nodes: bool) -> AsyncGenerator[bytes]:
    """The events of a run whose client has to stay: leaving them ends the run."""
    try:
        async with aclosing(followed(live, caller, nodes=nodes)) as frames:
            async for made in frames:
                yield made
    finally:
        await live.cancel("interrupted" if caller.stopping.is_set() else "cancelled")


async def followed(live: LiveRun, caller: Caller, *, nodes: bool = True) -> AsyncGenerator[bytes]:
    """The events of a run, each as one frame; the last is `complete`, or `cancelled` when it was ended early.

    Args:
        live: the run.
        caller: who follows it.
        nodes: whether the result has every node's value.
    """
    try:
        async with aclosing(live.frames()) as frames:
            async for made in until(caller.stopping, frames):
                yield made
    except ServerStopping:
        yield frame(cancelled(message="The server is stopping; the run was ended."))
        return
    if live.result is None:
        yield frame(cancelled(message=live.entry.error or "The run was cancelled."))
        return
    async for written in written_by_run(caller.files, live.result.files):
        yield frame(file_written(written))
    yield frame(RunComplete(data=_asked_for(live.result, nodes=nodes)))


def stream_of(frames: AsyncGenerator[bytes]) -> EventSourceResponse:
    """The response that streams frames."""
    return EventSourceResponse(
        frames,
        sep="\n",
        ping=PING_SECONDS,
        headers={"Cache-Control": "no-cache"},
        shutdown_grace_period=GRACE_SECONDS,
    )


def _wants_stream(request: Request) -> bool:
    accepted = [part.partition(";")[0].strip() for part in request.headers.get("accept", "").lower().split(",")]
    return "text/event-stream" in accepted


routes = [Route("/api/v1/flows/{flow_id}/run", run, methods=["POST"])]
