"""Reading an upload: the files of a multipart body, each written piece by piece to where it belongs."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from typing import Final

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.requests import Request

from runtime.files.names import DiskRefuses, FileRefused
from runtime.files.store import UserFiles, Written
from runtime.files.upload import FilesFull, FileTooLarge, Upload
from server.errors import ApiError, not_ready
from server.requests.body import pieces

UPLOAD_SECONDS: Final = 300.0
"""How long a client may take to send its files."""

FILES_LIMIT: Final = 20
"""Files of one request."""

PARTS_LIMIT: Final = 200
"""Parts of one request, with those that are no files: each costs time, however short it is."""

FORM_BYTES: Final = 1_000_000
"""Bytes of a request beside its files: the multipart form around them."""

HEADER_LIMIT: Final = 4_096
"""Bytes of the headers of one part."""


async def receive_files(request: Request, files: UserFiles, folder: str = "") -> list[Written]:
    """Write the files that a request carries into the user's files; those before a refused one are kept, and named.

    Args:
        request: the request; its body has not been read yet.
        files: the user's files.
        folder: the folder inside the user's that the names are relative to; empty for the user's own.

    Raises:
        ApiError: 400 malformed, 408 too slow, 413 too large, 415 not multipart, 422 no file, or a refused one.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        fix = "Send multipart/form-data, such as: curl -F file=@handbook.pdf."
        raise ApiError(415, "unsupported_media_type", "The body must be multipart/form-data.", fix)
    reader = _Reader(files, folder)
    try:
        await _read(request, boundary, reader)
    except ApiError as error:
        raise _naming(error, reader.written) from None
    return reader.written


async def _read(request: Request, boundary: bytes, reader: _Reader) -> None:
    """Receive the whole body; raises an ApiError for the first thing that is wrong."""
    try:
        parser = _parser(boundary, reader)
        async for piece in pieces(request, reader.most_bytes, UPLOAD_SECONDS):
            await asyncio.to_thread(parser.write, piece)
        await asyncio.to_thread(parser.finalize)
    except FormParserError:
        raise ApiError(400, "malformed", "The body is not multipart/form-data.", "Send it again.") from None
    except FileRefused as refused:
        raise refusal(refused) from None
    finally:
        await asyncio.to_thread(reader.abandon)
    if reader.unfinished:
        raise ApiError(400, "malformed", "The body ended in the middle of a file.", "Send it again.")
    if not reader.written:
        fix = "Send at least one part with a file name, such as: curl -F file=@handbook.pdf."
        raise ApiError(422, "no_file", "The body has no file.", fix)


def _parser(boundary: bytes, reader: _Reader) -> MultipartParser:
    """Tells the reader what it finds; raises FormParserError for a boundary that is too long."""
    return MultipartParser(
        boundary,
        {
            "on_part_begin": reader.begin,
            "on_header_field": reader.header_name,
            "on_header_value": reader.header_value,
            "on_header_end": reader.header_end,
            "on_headers_finished": reader.open,
            "on_part_data": reader.data,
            "on_part_end": reader.end,
        },
    )


def _naming(error: ApiError, written: list[Written]) -> ApiError:
    """The error, naming the files of the request that were added before it."""
    if written:
        error.message += f" Added before it: {', '.join(file.path for file in written)}."
    return error


def refusal(refused: FileRefused) -> ApiError:
    """The error for a file that is not taken."""
    if isinstance(refused, FileTooLarge):
        return ApiError(413, "too_large", refused.message, "Send a smaller one.")
    if isinstance(refused, DiskRefuses):
        return not_ready("disk_refuses", refused.message, "Free some space on the server's disk, then try again.")
    if isinstance(refused, FilesFull):
        return ApiError(409, "files_full", refused.message, "Remove files that are not needed.")
    return ApiError(422, "file_refused", refused.message, "Choose another name, or remove files that are not needed.")


class _Reader:
    """Receives what the parser finds: each part with a file name becomes a file, others are ignored."""

    def __init__(self, files: UserFiles, folder: str) -> None:
        self._files = files
        self._folder = folder
        self._parts = 0
        self._name = bytearray()
        self._value = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._receiving: AbstractContextManager[Upload] | None = None
        self._upload: Upload | None = None
        self.unfinished = False
        self.written: list[Written] = []

    @property
    def most_bytes(self) -> int:
        """The bytes of a whole request: what a user may have, and the form around it."""
        return self._files.limits.total_bytes + FORM_BYTES

    def begin(self) -> None:
        self._parts += 1
        if self._parts > PARTS_LIMIT:
            raise FileRefused(f"The request has more than {PARTS_LIMIT} parts.")
        self._headers = {}
        self._name.clear()
        self._value.clear()

    def header_name(self, data: bytes, start: int, end: int) -> None:
        self._extend(self._name, data[start:end])

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._extend(self._value, data[start:end])

    def header_end(self) -> None:
        self._headers[bytes(self._name).lower()] = bytes(self._value)
        self._name.clear()
        self._value.clear()

    def open(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"filename", b"").decode("utf-8", errors="replace")
        if not name:
            return
        if len(self.written) >= FILES_LIMIT:
            raise FileRefused(f"The request has more than {FILES_LIMIT} files.")
        path = f"{self._folder.rstrip('/')}/{name}" if self._folder else name
        receiving = self._files.receive(path)
        self._upload = receiving.__enter__()
        self._receiving, self.unfinished = receiving, True

    def data(self, data: bytes, start: int, end: int) -> None:
        if self._upload is not None:
            self._upload.write(data[start:end])

    def end(self) -> None:
        receiving, upload = self._receiving, self._upload
        if receiving is None or upload is None:
            return
        self._receiving = self._upload = None
        receiving.__exit__(None, None, None)
        self.unfinished = False
        self.written.append(Written(path=upload.path, size=upload.size, new=upload.new))

    def abandon(self) -> None:
        """Delete a file that did not arrive completely."""
        receiving, self._receiving, self._upload = self._receiving, None, None
        if receiving is not None:
            stopped = FileRefused("The file did not arrive completely.")
            try:
                receiving.__exit__(type(stopped), stopped, None)
            except FileRefused:
                return

    def _extend(self, held: bytearray, piece: bytes) -> None:
        held += piece
        if len(held) > HEADER_LIMIT:
            raise FileRefused("The headers of a part are too long.")
