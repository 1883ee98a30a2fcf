"""Stored flows as files over HTTP: duplicated, exported, and imported from Langflow's exports and project archives."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final, cast
from urllib.parse import quote

from pydantic_core import from_json, to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from flows.document import Flow, Json, JsonObject
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import flow_of, pieces
from server.requests.operation import operation
from server.routes.flows.models import ImportDocument, ImportedFlows
from server.routes.flows.stored import PATH, created
from server.store.flows import FlowEntry
from tools.json_types import FlowDocument

IMPORT_FLOWS: Final = 200
"""Flows of one import."""

READ_SECONDS: Final = 60.0
"""How long an import may take to arrive."""

_FLOW_KEYS: Final = frozenset({"data", "nodes", "flows"})
"""One of them is in a document that has flows; others, such as what describes a project, are left out."""

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
    body_types=("application/json", "application/zip"),
    status=201,
    errors=(409,),
)
async def import_flows(request: Request) -> Response:
    """Store flows from an export, a list of them, `{"flows": […]}`, or a zip archive: all of them or none."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", "application/zip"):
        fix = "Send an export as application/json, or a zip archive of exports as application/zip."
        raise ApiError(415, "unsupported_media_type", "The body must be JSON or a zip archive.", fix)
    caller, body = caller_of(request), bytearray()
    limit = caller.settings.flow_body_limit
    async for piece in pieces(request, limit, READ_SECONDS):
        body += piece
    content = bytes(body)
    read = _of_archive(content, limit) if kind == "application/zip" else _of_json(content)
    found = await asyncio.to_thread(lambda: list(read))
    if not 0 < len(found) <= IMPORT_FLOWS:
        fix = f"Send 1 to {IMPORT_FLOWS} flows."
        raise ApiError(422, "invalid_request", f"There are {len(found)} flows in this import.", fix, "$")
    flows = [flow_of(document, place, caller.settings.nodes_limit) for place, document in found]
    store = await caller.flows()
    entries = await store.add_all(flows)
    return JsonResponse(ImportedFlows(flows=entries, total=len(entries)), 201)


def _of_json(body: bytes) -> Iterator[tuple[str, Json]]:
    """The flows in a JSON document, with their places."""
    yield from _in_document(_parsed(body, "$"), "$")


def _in_document(document: Json, place: str) -> Iterator[tuple[str, Json]]:
    """The flows in a document: itself, those of a list, or those under `flows`."""
    several = document.get("flows") if isinstance(document, dict) else document
    if isinstance(several, list):
        prefix = f"{place}.flows" if isinstance(document, dict) else place
        yield from ((f"{prefix}[{index}]", flow) for index, flow in enumerate(several))
    else:
        yield place, document


def _of_archive(body: bytes, limit: int) -> Iterator[tuple[str, Json]]:
    """The flows in an archive of at most so many bytes unpacked, with the names of their files; others are left out."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            files = [entry for entry in archive.infolist() if PurePosixPath(entry.filename).suffix.lower() == ".json"]
            if len(files) > IMPORT_FLOWS or sum(entry.file_size for entry in files) > limit:
                fix = f"Send at most {IMPORT_FLOWS} flows, and {limit:,} bytes unpacked."
                raise ApiError(413, "too_large", "The archive is too large.", fix)
            for entry in files:
                with archive.open(entry) as file:
                    content = file.read(limit + 1)
                document = _parsed(content, entry.filename[:200])
                if isinstance(document, list) or (isinstance(document, dict) and _FLOW_KEYS & document.keys()):
                    yield from _in_document(document, entry.filename[:200])
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError):
        fix = "Send the archive that Langflow's project export gives."
        raise ApiError(400, "not_an_archive", "The body is not a zip archive that can be read.", fix, "$") from None


def _parsed(body: bytes, place: str) -> Json:
    try:
        return cast("Json | JsonObject", from_json(body, allow_inf_nan=False))
    except ValueError:
        raise ApiError(400, "not_json", "This is not JSON.", "Send exports in UTF-8.", place) from None


routes = [
    Route(f"{PATH}/import", import_flows, methods=["POST"]),
    Route(f"{PATH}/{{flow_id}}/duplicate", duplicate, methods=["POST"]),
    Route(f"{PATH}/{{flow_id}}/export", export, methods=["GET"]),
]
