"""Stored flows over HTTP, kept with optimistic versions."""

from __future__ import annotations

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from flows.document import Json, JsonObject
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import flow_of, read_object
from server.requests.query import is_number, number
from server.store.flows import FlowEntry

VERSION_LIMIT = 2**63 - 1
"""Versions are below it, so that the next one still fits into the database."""

PAGE = 50
PAGE_LIMIT = 200
"""Flows on a page by default, and at most."""


class Flows(HTTPEndpoint):
    """All stored flows."""

    async def get(self, request: Request) -> Response:
        """One page of them, last changed first."""
        limit, offset = number(request, "limit", PAGE, 1, PAGE_LIMIT), number(request, "offset", 0, 0, 2**31)
        entries, total = await (await caller_of(request).flows()).page(limit, offset)
        found: list[Json] = [entry.to_json() for entry in entries]
        return JsonResponse({"flows": found, "total": total, "limit": limit, "offset": offset})

    async def post(self, request: Request) -> Response:
        """Store a new one."""
        caller = caller_of(request)
        document = await read_object(request, caller.settings.body_limit)
        flow = flow_of(*_flow_part(document))
        entry = await (await caller.flows()).add(flow)
        headers = {"Location": f"{request.url.path.rstrip('/')}/{entry.id}", "ETag": _tag(entry)}
        return JsonResponse(entry.to_json(), 201, headers)


class OneFlow(HTTPEndpoint):
    """One stored flow."""

    async def get(self, request: Request) -> Response:
        """The flow with its document."""
        stored = await (await caller_of(request).flows()).get(request.path_params["flow_id"])
        return JsonResponse(stored.to_json(), headers={"ETag": _tag(stored.entry)})

    async def put(self, request: Request) -> Response:
        """Store its next revision, if it is still at the version that the client has seen."""
        caller = caller_of(request)
        document = await read_object(request, caller.settings.body_limit)
        version = _seen_version(request, document)
        if "flow" not in document:
            document = {key: value for key, value in document.items() if key != "version"}
        flow = flow_of(*_flow_part(document))
        entry = await (await caller.flows()).replace(request.path_params["flow_id"], flow, version)
        return JsonResponse(entry.to_json(), headers={"ETag": _tag(entry)})

    async def delete(self, request: Request) -> Response:
        """Remove it, with what its sessions remember."""
        caller, flow_id = caller_of(request), request.path_params["flow_id"]
        await (await caller.flows()).remove(flow_id)
        await caller.assistant.flow_sessions.remove_flow(caller.id, flow_id)
        return Response(status_code=204)


def _flow_part(document: JsonObject) -> tuple[Json, str]:
    """The flow in a body, under `flow` or as the whole body, and its JSON path."""
    if "flow" in document and "data" not in document and "nodes" not in document:
        return document["flow"], "$.flow"
    return document, "$"


def _seen_version(request: Request, document: JsonObject) -> int:
    """The version that a change is based on, from `If-Match` or the body."""
    header = request.headers.get("if-match")
    given: Json = document.get("version") if header is None else header.strip().removeprefix("W/").strip('"')
    if given is None:
        raise ApiError(
            428,
            "version_required",
            "A change must name the version it is based on.",
            "Send the version that you loaded, as `version` in the body or as the header If-Match.",
        )
    if isinstance(given, str) and is_number(given):
        given = int(given)
    if not isinstance(given, int) or isinstance(given, bool) or not 0 < given < VERSION_LIMIT:
        place = "$.version" if header is None else "If-Match"
        raise ApiError(422, "invalid_request", "The version must be a whole number.", "Send the one you loaded.", place)
    return given


def _tag(entry: FlowEntry) -> str:
    return f'"{entry.version}"'


routes = [
    Route("/api/v1/flows", Flows),
    Route("/api/v1/flows/{flow_id}", OneFlow),
]
