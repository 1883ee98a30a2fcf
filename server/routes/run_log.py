"""What ran, over HTTP: the user's runs are listed, read and erased."""

from __future__ import annotations

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from flows.document import Json
from runtime.sessions.runs import RunLog
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.query import number
from server.state import server_state

PAGE = 50
PAGE_LIMIT = 200
"""Runs on a page by default, and at most."""


class Runs(HTTPEndpoint):
    """All runs that are kept."""

    async def get(self, request: Request) -> Response:
        """One page of them, latest first."""
        limit, offset = number(request, "limit", PAGE, 1, PAGE_LIMIT), number(request, "offset", 0, 0, 2**31)
        entries, total = await _log(request).entries(request.user.id, limit, offset)
        page: list[Json] = [entry.to_json() for entry in entries]
        return JsonResponse({"runs": page, "total": total, "limit": limit, "offset": offset})

    async def delete(self, request: Request) -> Response:
        """Erase them all."""
        await _log(request).remove(request.user.id)
        return Response(status_code=204)


class OneRun(HTTPEndpoint):
    """One run."""

    async def get(self, request: Request) -> Response:
        """What it was given and what it gave."""
        run: str = request.path_params["run_id"]
        entry = await _log(request).get(request.user.id, run)
        if entry is None:
            raise _no_run(run)
        return JsonResponse(entry.to_json())

    async def delete(self, request: Request) -> Response:
        """Erase it."""
        run: str = request.path_params["run_id"]
        if not await _log(request).remove(request.user.id, run):
            raise _no_run(run)
        return Response(status_code=204)


def _log(request: Request) -> RunLog:
    return server_state(request).assistant.run_log


def _no_run(run: str) -> ApiError:
    shown = run if len(run) <= 80 else f"{run[:80]}…"
    return ApiError(404, "run_not_found", f"There is no run {shown!r}.", "GET /api/v1/runs lists those that are kept.")


routes = [
    Route("/api/v1/runs", Runs),
    Route("/api/v1/runs/{run_id}", OneRun),
]
