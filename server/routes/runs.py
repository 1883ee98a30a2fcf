"""Running stored flows over HTTP, on the engine in another process: as one reply, or as a stream of what happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any
from uuid import uuid4

from sse_starlette.sse import EventSourceResponse
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.endings import cancelled
from agent.contract.requests import RunRequest
from agent.contract.runs import RunComplete
from flows.checks import check
from flows.document import Flow
from runtime.event_stream import EventStream, run_events
from runtime.options import RunOptions
from runtime.results import RunError, RunMetrics, RunResult
from runtime.run_events import RunEvent
from runtime.sessions.run_entry import RunEntry
from server.access.caller import Caller, caller_of
from server.errors import not_ready
from server.json_response import JsonResponse
from server.requests.body import read_object, validated
from server.requests.disconnect import ServerStopping, until, while_connected
from server.routes.assist import GRACE_SECONDS, PING_SECONDS
from server.store.flows import FlowNotStored, StoredFlow
from server.streams.sse import file_written, frame
from tools.workbench import wait_for_runner
from tools.written_files import written_by_run

READY_SECONDS = 30.0
"""How long a run waits for a runner that is still starting."""


async def run(request: Request) -> Response:
    """Run a stored flow once; a flow that fails is a reply with `ok: false`.

    As a stream, each event is a JSON object whose `event` is `node_started`, `node_finished`, `token`, `cut`,
    `file_written`, or at the end `complete` with the reply under `data`. Too many runs at once are a 503, or in a
    stream a reply of code `limit`.
    """
    caller = caller_of(request)
    run_request = validated(RunRequest, await read_object(request, caller.settings.body_limit, optional=True))
    flow_id = request.path_params["flow_id"]
    stored, models = await asyncio.gather(_stored(caller, flow_id), caller.assistant.models_of(caller.id))
    execute = _recorded(caller, stored, run_request.session_id)
    session = run_request.session_id
    options = RunOptions(
        timeout=run_request.timeout,
        session=session,
        memory=None if session is None else caller.assistant.flow_sessions.memory(caller.id, flow_id, session),
        tweaks=run_request.tweaks,
        hosts=run_request.allow_hosts,
        want_nodes=run_request.nodes,
        files=caller.files,
        variables=caller.variables,
        models=models,
    )
    if run_request.stream or _wants_stream(request):
        refusal = await while_connected(request, caller.stopping, _refusal(caller, stored.flow))
        return EventSourceResponse(
            _frames(run_events(execute, stored.flow, run_request.input_value, options), refusal, caller),
            sep="\n",
            ping=PING_SECONDS,
            headers={"Cache-Control": "no-cache"},
            shutdown_grace_period=GRACE_SECONDS,
        )

    async def result_of_run() -> RunResult:
        refusal = await _refusal(caller, stored.flow)
        return refusal or await execute(stored.flow, run_request.input_value, options)

    result = await while_connected(request, caller.stopping, result_of_run())
    if result.busy and result.error is not None:
        raise not_ready("busy", result.error.message, result.error.fix)
    return JsonResponse(result.to_json())


async def _stored(caller: Caller, flow_id: str) -> StoredFlow:
    """The flow with this id."""
    return await (await caller.flows()).get(flow_id)


def _recorded(
    caller: Caller, stored: StoredFlow, session: str | None
) -> Callable[[Flow, str | None, RunOptions], Coroutine[Any, Any, RunResult]]:
    """The runner's `execute`, whose results are kept in the log of runs."""

    async def execute(flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        result = await caller.assistant.runner.execute(flow, text, options)
        if not result.busy:
            name, key = stored.entry.name, stored.entry.id
            entry = RunEntry.of(result, text, flow=key, name=name, source="http", session=session)
            caller.assistant.run_log.record(caller.id, entry)
        if session is not None:
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
    faults = [fault for fault in check(flow, await caller.assistant.catalogue()) if fault.is_error]
    if not faults:
        return None
    first = RunError(code="wiring", message=faults[0].message, fix=faults[0].fix, node=faults[0].node)
    metrics = RunMetrics(seconds=0)
    return RunResult(run_id=str(uuid4()), output=None, outputs={}, metrics=metrics, error=first, faults=tuple(faults))


async def _frames(
    items: EventStream[RunEvent | RunResult], refusal: RunResult | None, caller: Caller
) -> AsyncGenerator[bytes]:
    """The events of a run, each as one frame; the last is `complete`, or `cancelled` when the server stops."""
    if refusal is not None:
        yield frame(RunComplete(data=refusal))
        return
    async with items:
        try:
            async for item in until(caller.stopping, aiter(items)):
                if not isinstance(item, RunResult):
                    yield frame(item)
                    continue
                async for written in written_by_run(caller.files, item.files):
                    yield frame(file_written(written))
                yield frame(RunComplete(data=item))
        except ServerStopping:
            yield frame(cancelled(message="The server is stopping; the run was ended."))


def _wants_stream(request: Request) -> bool:
    accepted = [part.partition(";")[0].strip() for part in request.headers.get("accept", "").lower().split(",")]
    return "text/event-stream" in accepted


routes = [Route("/api/v1/flows/{flow_id}/run", run, methods=["POST"])]
