"""The user's files over HTTP: uploaded, listed, downloaded and removed. Flows read and write the same files."""

from __future__ import annotations

import asyncio
import mimetypes
from dataclasses import asdict
from typing import Final
from urllib.parse import quote

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.events import FILES_PATH, file_url
from flows.document import Json
from runtime.files.names import FileMissing, FileRefused
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.multipart import receive_files, refusal

_IMAGES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_SHOWN: Final = _IMAGES | {"application/json", "application/pdf", "text/csv", "text/plain"}
"""Media types that are stated as they are; anything else is a stream of bytes."""


class Files(HTTPEndpoint):
    """All files of the user."""

    async def get(self, request: Request) -> Response:
        """Every file with its size, by path, and the limits."""
        own = caller_of(request).files
        try:
            listed = await asyncio.to_thread(own.listing)
        except FileRefused as refused:
            raise refusal(refused) from None
        files: list[Json] = [{"path": path, "size": size, "url": file_url(path)} for path, size in listed]
        limits: Json = asdict(own.limits)
        total = sum(size for _, size in listed)
        return JsonResponse({"files": files, "total": len(files), "total_bytes": total, "limits": limits})

    async def post(self, request: Request) -> Response:
        """Add files, or replace those of the same names; `?folder=` puts them into a folder."""
        folder = request.query_params.get("folder", "")
        written = await receive_files(request, caller_of(request).files, folder)
        files: list[Json] = [
            {"path": file.path, "size": file.size, "new": file.new, "url": file_url(file.path)} for file in written
        ]
        return JsonResponse({"files": files}, 201)


class OneFile(HTTPEndpoint):
    """One file."""

    async def get(self, request: Request) -> Response:
        """Its content, to be saved: a browser never shows it as a page of this server."""
        path = request.path_params["path"]
        try:
            content = await asyncio.to_thread(caller_of(request).files.read_bytes, path)
        except FileRefused as refused:
            raise _missing(path, refused) from None
        kind = mimetypes.guess_type(path)[0] or ""
        name = path.rpartition("/")[2]
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
        return Response(content, media_type=kind if kind in _SHOWN else "application/octet-stream", headers=headers)

    async def delete(self, request: Request) -> Response:
        """Remove it."""
        path = request.path_params["path"]
        try:
            await asyncio.to_thread(caller_of(request).files.remove, path)
        except FileRefused as refused:
            raise _missing(path, refused) from None
        return Response(status_code=204)


def _missing(path: str, refused: FileRefused) -> ApiError:
    if isinstance(refused, FileMissing):
        return ApiError(
            404, "file_not_found", f"There is no file {path[:200]!r}.", f"GET {FILES_PATH} lists the files."
        )
    return ApiError(422, "file_refused", refused.message, f"GET {FILES_PATH} lists the files.")


routes = [
    Route(FILES_PATH, Files),
    Route(f"{FILES_PATH}/{{path:path}}", OneFile),
]
