"""What tells two requests apart: a digest of their method, address, media type and body."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Final

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

LARGEST: Final = 512 * 1024 * 1024
"""Bytes of a body that are read at most; each route has a limit of its own before that."""

SECONDS: Final = 300.0
"""How long a body may take to arrive."""


class UnreadBody(Exception):
    """The body of a request did not arrive to its end."""


class Fingerprint:
    """A digest of a request, made while its body is read.

    The boundary of a multipart body is left out, because clients choose another one each time.

    Args:
        scope: the request.
        receive: gives the messages with its body.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        headers = Headers(scope=scope)
        kind, options = parse_options_header(headers.get("content-type", ""))
        self._boundary = options.get(b"boundary", b"") if kind == b"multipart/form-data" else b""
        self._receive = receive
        self._held = b""
        self._digest = hashlib.sha256()
        for part in (scope["method"].encode(), scope["path"].encode(), scope.get("query_string", b""), kind):
            self._digest.update(len(part).to_bytes(8, "big") + part)
        self._ended = False

    async def receive(self) -> Message:
        """The next message of the request; its body is digested."""
        message = await self._receive()
        if message["type"] == "http.request" and not self._ended:
            self._add(message.get("body", b""))
            self._ended = not message.get("more_body", False)
        return message

    async def finished(self) -> str:
        """The digest of the whole request; what nobody has read of its body is read now.

        Raises:
            UnreadBody: its client has left, or was too slow, or the body is too large.
        """
        read, deadline = 0, asyncio.get_running_loop().time() + SECONDS
        while not self._ended:
            try:
                async with asyncio.timeout_at(deadline):
                    message = await self.receive()
            except TimeoutError:
                raise UnreadBody from None
            read += len(message.get("body", b""))
            if message["type"] != "http.request" or read > LARGEST:
                raise UnreadBody
        self._digest.update(self._held)
        self._held = b""
        return self._digest.hexdigest()

    def _add(self, piece: bytes) -> None:
        if not self._boundary:
            self._digest.update(piece)
            return
        found = (self._held + piece).replace(self._boundary, b"")
        keep = min(len(found), len(self._boundary) - 1)
        self._digest.update(found[: len(found) - keep])
        self._held = found[len(found) - keep :]
