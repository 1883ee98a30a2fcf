"""What runs and what ran, over HTTP: the user's runs are listed, read, followed, cancelled and erased."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import asdict
from typing import Any

from pydantic import field_validator
from pydantic_core import from_json
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.endings import cancelled
from agent.contract.runs import KeptRun, RunComplete, RunPage, RunStreamEvent
from runtime.results import RunError, RunMetrics, RunResult
from runtime.sessions.keys import clean_key
from runtime.sessions.run_entry import RunEntry, RunState
from runtime.sessions.runs import RunLog
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.operation import operation
from server.requests.page import PageQuery, SearchText, paging, queried
from server.routes.runs import RUNS, followed, stream_of
from server.runs.live import LISTEN_SECONDS
from server.state import server_state
from server.streams.elsewhere import STOP_SECONDS
from server.streams.sse import frame


class RunQuery(PageQuery):
    """Asks for a page of runs.

    Attributes:
        flow: the flow that they are of; empty for all.
        state: how they stand; null for all.
    """

    flow: SearchText = ""
    state: RunState | None = None

    @field_validator("state", mode="before")
    @classmethod
    def _none_if_empty(cls, given: object) -> object:
        return given or None


class Runs(HTTPEndpoint):
    """All runs that go on or are kept."""

    @operation(RunPage, query=RunQuery)
    async def get(self, request: Request) -> Response:
        """One page of them, latest first."""
        asked = queried(RunQuery, request)
        found, total = await _log(request).entries(request.user.id, asked.limit, asked.offset, asked.flow, asked.state)
        return JsonResponse(RunPage.model_validate({"runs": found, **paging(request, asked, total)}))

    @operation()
    async def delete(self, request: Request) -> Response:
        """Erase all that have ended."""
        await _log(request).remove(request.user.id)
        return Response(status_code=204)


class OneRun(HTTPEndpoint):
    """One run."""

    @operation(KeptRun)
    async def get(self, request: Request) -> Response:
        """What it was given and what it gave."""
        entry, detail = await _read(request)
        return JsonResponse(_kept(entry, detail))

    @operation(errors=(409,))
    async def delete(self, request: Request) -> Response:
        """Erase it; one that goes on has to be cancelled first."""
        entry, _ = await _read(request)
        if entry.state == "running":
            fix = f"Cancel it first: POST {RUNS}/{{id}}/cancel."
            raise ApiError(409, "run_goes_on", "The run is still in progress, so it cannot be erased.", fix)
        await _log(request).remove(request.user.id, entry.id)
        return Response(status_code=204)


@operation(KeptRun, errors=(409,))
async def cancel(request: Request) -> Response:
    """End a run that goes on, with its process; the reply is the run as it ended."""
    live = server_state(request).live_runs.get(request.user.id, request.path_params["run_id"])
    if live is None:
        entry, _ = await _read(request)
        if entry.state == "running":
            return JsonResponse(await _cancelled_elsewhere(request, entry))
        raise ApiError(409, "run_ended", "The run has ended already.", f"GET {RUNS}/{{id}} says how.")
    await live.cancel()
    entry, detail = await _read(request)
    return JsonResponse(_kept(entry, detail))


async def _cancelled_elsewhere(request: Request, entry: RunEntry) -> KeptRun:
    """A run as it ended, once the server that has it was asked to cancel it.

    Raises:
        ApiError: 409, it was not ended in time, or no request has asked for it.
    """
    if entry.source == "http" and _log(request).is_shared:
        await _log(request).ask_to_stop(request.user.id, entry.id)
        for _ in range(round(STOP_SECONDS / LISTEN_SECONDS)):
            await asyncio.sleep(LISTEN_SECONDS)
            entry, detail = await _read(request)
            if entry.state != "running":
                return _kept(entry, detail)
    fix = "Cancel it there; it counts as interrupted when that is gone."
    raise ApiError(409, "run_elsewhere", "The run is in progress in another process.", fix)


@operation(RunStreamEvent, media_type="text/event-stream", errors=(409,))
async def events(request: Request) -> Response:
    """What happens in a run, from its beginning, for any number of clients; of one that has ended, its end."""
    live = server_state(request).live_runs.get(request.user.id, request.path_params["run_id"])
    if live is not None:
        return stream_of(followed(live, caller_of(request)))
    entry, detail = await _read(request)
    if entry.state == "running":
        fix = f"GET {RUNS}/{{id}} says how it stands."
        raise ApiError(409, "run_elsewhere", "The run is in progress in another process.", fix)
    return stream_of(_ending(entry, detail))


async def _ending(entry: RunEntry, detail: str | None) -> AsyncGenerator[bytes]:
    """The last event of a run that has ended."""
    kept = _kept(entry, detail)
    if entry.state in ("cancelled", "interrupted"):
        yield frame(cancelled(message=entry.error or "The run was cancelled."))
    else:
        yield frame(RunComplete(data=kept.result or _of_entry(entry)))


def _of_entry(entry: RunEntry) -> RunResult:
    """What is known of the result of a run of an earlier version."""
    metrics = RunMetrics(seconds=entry.seconds, input_tokens=entry.input_tokens, output_tokens=entry.output_tokens)
    error = None if entry.error is None else RunError(code="crash", message=entry.error)
    return RunResult(run_id=entry.id, output=entry.output, outputs={}, metrics=metrics, error=error)


def _kept(entry: RunEntry, detail: str | None) -> KeptRun:
    """A run as it is read."""
    values: dict[str, Any] = {} if detail is None else from_json(detail)
    cut = bool(values.pop("cut", False))
    result = RunResult.from_json(values) if values else None
    return KeptRun.model_validate({**asdict(entry), "result": result, "cut": cut})


async def _read(request: Request) -> tuple[RunEntry, str | None]:
    """The run in the address, and what it gave.

    Raises:
        ApiError: 404, there is none.
    """
    run: str = request.path_params["run_id"]
    found = await _log(request).read(request.user.id, clean_key(run))
    if found is None:
        shown = run if len(run) <= 80 else f"{run[:80]}…"
        raise ApiError(404, "run_not_found", f"There is no run {shown!r}.", f"GET {RUNS} lists those that are kept.")
    return found


def _log(request: Request) -> RunLog:
    return server_state(request).assistant.run_log


routes = [
    Route(RUNS, Runs),
    Route(f"{RUNS}/{{run_id}}", OneRun),
    Route(f"{RUNS}/{{run_id}}/cancel", cancel, methods=["POST"]),
    Route(f"{RUNS}/{{run_id}}/events", events, methods=["GET"]),
]
