"""Stored flows as files over HTTP: duplicated, exported, and imported from Langflow's exports and project archives."""

from __future__ import annotations

import asyncio
import re
from typing import Final
from urllib.parse import quote

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from flows.document import Flow
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import pieces
from server.requests.operation import operation
from server.routes.flows.exports import ARCHIVES, read_archive, read_export
from server.routes.flows.models import ImportDocument, ImportedFlows
from server.routes.flows.stored import PATH, created
from server.store.flows import FlowEntry
from tools.json_types import FlowDocument

READ_SECONDS: Final = 60.0
"""How long an import may take to arrive."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._ -]+")


@operation(FlowEntry, status=201, headers=("ETag", "Location"), errors=(409,))
async def duplicate(request: Request) -> Response:
    """Store a copy of a flow as a new one."""
    store = await caller_of(request).flows()
    stored = await store.get(request.path_params["flow_id"])
    name = f"{stored.entry.name} (copy)"
    return created(await store.add(Flow.from_json({**stored.flow.raw, "name": name})))


@operation(FlowDocument, headers=("Content-Disposition",))
async def export(request: Request) -> Response:
    """A flow as a file that Langflow imports."""
    stored = await (await caller_of(request).flows()).get(request.path_params["flow_id"])
    name = _UNSAFE.sub("_", stored.entry.name).strip(" .") or "flow"
    exact = quote(f"{stored.entry.name}.json", safe="")
    headers = {"Content-Disposition": f"attachment; filename=\"{name}.json\"; filename*=UTF-8''{exact}"}
    return Response(to_json(stored.flow.raw, indent=2), media_type="application/json", headers=headers)


@operation(
    ImportedFlows,
    body=ImportDocument,
    body_types=("application/json", *ARCHIVES),
    status=201,
    errors=(409,),
)
async def import_flows(request: Request) -> Response:
    """Store flows from an export, a list of them, or `{"flows": […]}`: all of them or none.

    Of a zip archive, what is a flow is stored, and what is not is named.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", *ARCHIVES):
        fix = "Send an export as application/json, or a zip archive of exports as application/zip."
        raise ApiError(415, "unsupported_media_type", "The body must be JSON or a zip archive.", fix)
    caller, body = caller_of(request), bytearray()
    limit, nodes = caller.settings.flow_body_limit, caller.settings.nodes_limit
    async for piece in pieces(request, limit, READ_SECONDS):
        body += piece
    if kind in ARCHIVES:
        read = await asyncio.to_thread(read_archive, bytes(body), limit, nodes)
    else:
        read = await asyncio.to_thread(read_export, bytes(body), nodes)
    entries = await (await caller.flows()).add_all(read.flows)
    return JsonResponse(ImportedFlows(flows=entries, total=len(entries), skipped=read.skipped), 201)


routes = [
    Route(f"{PATH}/import", import_flows, methods=["POST"]),
    Route(f"{PATH}/{{flow_id}}/duplicate", duplicate, methods=["POST"]),
    Route(f"{PATH}/{{flow_id}}/export", export, methods=["GET"]),
]
