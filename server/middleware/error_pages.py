"""Errors for people: a browser that opens an address gets a page, and every other client the JSON."""

from __future__ import annotations

import json
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flows.json_values import as_object
from server.routes.browser.error_page import accepts_pages, error_page

_ERRORS: Final = 400
_JSON: Final = "application/json"


class ErrorPages:
    """ASGI middleware that gives browsers the errors of the application as pages; their statuses stay.

    Args:
        app: the application that answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = Headers(scope=scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        if headers is None or not accepts_pages(headers.get("accept", "")):
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _Reply(send, headers.get("accept-language", "")).take)


class _Reply:
    """What an application answers: passed on at once, except for an error, which is turned into a page first."""

    def __init__(self, send: Send, languages: str) -> None:
        self._send = send
        self._languages = languages
        self._start: Message | None = None
        self._body = bytearray()

    async def take(self, message: Message) -> None:
        """Take a message of the application."""
        if message["type"] == "http.response.start" and _is_error(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                start, self._start = self._start, None
                await self._answer(start)

    async def _answer(self, start: Message) -> None:
        error = as_object(as_object(json.loads(self._body)).get("error"))
        page = error_page(start["status"], error, self._languages).encode()
        headers = MutableHeaders(scope=start)
        headers["content-type"] = "text/html; charset=utf-8"
        headers["content-length"] = str(len(page))
        headers["vary"] = ", ".join(filter(None, (headers.get("vary", ""), "Accept", "Accept-Language")))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": page})


def _is_error(start: Message) -> bool:
    return start["status"] >= _ERRORS and Headers(raw=start["headers"]).get("content-type", "").startswith(_JSON)
