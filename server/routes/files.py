"""The user's files over HTTP: uploaded, listed, downloaded and removed. Flows read and write the same files."""

from __future__ import annotations

import asyncio
import mimetypes
from dataclasses import asdict
from typing import Final
from urllib.parse import quote

from pydantic import Field
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.events import FILES_PATH, file_url
from agent.contract.model import ContractModel, Page, Received
from runtime.files.names import FileMissing, FileRefused
from runtime.files.store import COUNT_LIMIT
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.multipart import receive_files, refusal
from server.requests.operation import operation
from server.requests.page import PageQuery, WholeNumber, paging, queried

_IMAGES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_SHOWN: Final = _IMAGES | {"application/json", "application/pdf", "text/csv", "text/plain"}
"""Media types that are stated as they are; anything else is a stream of bytes."""


class FileQuery(PageQuery):
    """Asks for a page of files; all fit on one, unless the server allows a user more than usual."""

    limit: WholeNumber = Field(default=COUNT_LIMIT, ge=1, le=COUNT_LIMIT)


class UserFile(Received):
    """A file of the user.

    Attributes:
        path: inside the user's folder, with forward slashes.
        size: in bytes.
        url: where its content is read.
    """

    path: str
    size: int
    url: str


class WrittenFile(UserFile):
    """A file that was received.

    Attributes:
        new: whether it did not exist before.
    """

    new: bool


class WrittenFiles(Received):
    """The files that were received, in order."""

    files: list[WrittenFile]


class FileLimits(Received):
    """How much a user may have.

    Attributes:
        file_bytes: bytes of one file.
        total_bytes: bytes of all.
        files: how many files.
    """

    file_bytes: int
    total_bytes: int
    files: int


class FilePage(Page):
    """The user's files by path, with the bytes of all of them."""

    files: list[UserFile]
    total_bytes: int
    limits: FileLimits


class UploadForm(ContractModel):
    """The files of an upload; each part may have any name.

    Attributes:
        file: a file, with its name.
    """

    file: list[bytes] = Field(min_length=1)


class UploadQuery(ContractModel):
    """Where uploaded files go.

    Attributes:
        folder: the folder inside the user's; empty for the user's own.
    """

    folder: str = ""


class Files(HTTPEndpoint):
    """All files of the user."""

    @operation(FilePage, query=FileQuery)
    async def get(self, request: Request) -> Response:
        """Every file with its size, by path, and the limits."""
        own = caller_of(request).files
        try:
            listed = await asyncio.to_thread(own.listing)
        except FileRefused as refused:
            raise refusal(refused) from None
        asked = queried(FileQuery, request)
        page = [
            UserFile(path=path, size=size, url=file_url(path))
            for path, size in listed[asked.offset : asked.offset + asked.limit]
        ]
        facts = {"total_bytes": sum(size for _, size in listed), "limits": asdict(own.limits)}
        return JsonResponse(FilePage.model_validate({"files": page, **facts, **paging(request, asked, len(listed))}))

    @operation(
        WrittenFiles,
        body=UploadForm,
        body_types=("multipart/form-data",),
        query=UploadQuery,
        status=201,
        errors=(409,),
    )
    async def post(self, request: Request) -> Response:
        """Add files, or replace those of the same names; `?folder=` puts them into a folder."""
        folder = request.query_params.get("folder", "")
        written = await receive_files(request, caller_of(request).files, folder)
        files = [WrittenFile(path=file.path, size=file.size, new=file.new, url=file_url(file.path)) for file in written]
        return JsonResponse(WrittenFiles(files=files), 201)


class OneFile(HTTPEndpoint):
    """One file."""

    @operation(bytes, media_type="*/*", headers=("Content-Disposition",), errors=(422,))
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

    @operation(errors=(422,))
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
