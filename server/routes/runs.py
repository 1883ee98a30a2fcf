"""Running stored flows over HTTP, on the engine in another process: as one reply, or as a stream of what happens."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from uuid import uuid4

from sse_starlette.sse import EventSourceResponse
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.events import CancelledEvent
from agent.contract.requests import RunRequest
from flows.checks import check
from flows.document import Flow, JsonObject
from runtime.event_stream import EventStream, run_events
from runtime.options import RunOptions
from runtime.results import RunError, RunEvent, RunMetrics, RunResult
from server.errors import not_ready
from server.json_response import JsonResponse
from server.requests.body import read_object, validated
from server.requests.disconnect import ServerStopping, until, while_connected
from server.routes.assist import GRACE_SECONDS, PING_SECONDS
from server.state import ServerState, server_state
from server.streams.sse import frame
from tools.workbench import wait_for_runner

READY_SECONDS = 30.0
"""How long a run waits for a runner that is still starting."""


async def run(request: Request) -> Response:
    """Run a stored flow once; a flow that fails is a reply with `ok: false`.

    As a stream, each event is a JSON object whose `event` is `node_started`, `node_finished`, `token`, `cut`, or at the
    end `complete` with the reply under `data`. Too many runs at once are a 503, or in a stream a reply of code `limit`.
    """
    state = server_state(request)
    asked = validated(RunRequest, await read_object(request, state.settings.body_limit, optional=True))
    stored = await (await state.flows()).get(request.path_params["flow_id"])
    refused = await while_connected(request, state.stopping, _refusal(state, stored.flow))
    execute = state.assistant.runner.execute
    options = RunOptions(timeout=asked.timeout, session=asked.session_id, tweaks=asked.tweaks, want_nodes=asked.nodes)
    if asked.stream or _wants_stream(request):
        return EventSourceResponse(
            _frames(run_events(execute, stored.flow, asked.input_value, options), refused, state),
            sep="\n",
            ping=PING_SECONDS,
            headers={"Cache-Control": "no-cache"},
            shutdown_grace_period=GRACE_SECONDS,
        )
    if refused is not None:
        return JsonResponse(refused)
    result = await while_connected(request, state.stopping, execute(stored.flow, asked.input_value, options))
    if result.busy and result.error is not None:
        raise not_ready("busy", result.error.message, result.error.fix)
    return JsonResponse(result.to_json())


async def _refusal(state: ServerState, flow: Flow) -> JsonObject | None:
    """The reply for a flow that does not pass its checks, or None.

    Raises:
        ApiError: 503, flows cannot be run yet.
    """
    unavailable = await wait_for_runner(state.assistant.runner, READY_SECONDS)
    if unavailable is not None:
        raise not_ready("runner_not_ready", unavailable.message, unavailable.fix)
    faults = [fault for fault in check(flow, await state.assistant.catalogue()) if fault.is_error]
    if not faults:
        return None
    first = RunError(code="wiring", message=faults[0].message, fix=faults[0].fix, node=faults[0].node)
    refused = RunResult(run_id=str(uuid4()), output=None, outputs={}, metrics=RunMetrics(seconds=0), error=first)
    return {**refused.to_json(), "faults": [fault.to_json() for fault in faults]}


async def _frames(
    items: EventStream[RunEvent | RunResult], refused: JsonObject | None, state: ServerState
) -> AsyncGenerator[bytes]:
    """The events of a run, each as one frame; the last is `complete`, or `cancelled` when the server stops."""
    if refused is not None:
        yield frame({"event": "complete", "data": refused})
        return
    async with items:
        try:
            async for item in until(state.stopping, aiter(items)):
                if isinstance(item, RunEvent):
                    yield frame(item.to_json())
                else:
                    yield frame({"event": "complete", "data": item.to_json()})
        except ServerStopping:
            yield frame(CancelledEvent(message="The server is stopping; the run was ended."))


def _wants_stream(request: Request) -> bool:
    accepted = [part.partition(";")[0].strip() for part in request.headers.get("accept", "").lower().split(",")]
    return "text/event-stream" in accepted


routes = [Route("/api/v1/flows/{flow_id}/run", run, methods=["POST"])]
