"""The id of each request: taken from its headers or made, in the log lines, in the response and in error bodies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from time import perf_counter
from typing import Final
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flows.fields.keys import without_keys
from runtime.telemetry import bind_fields, context_fields, log_event
from server.telemetry.tracing import request_span

HEADER: Final = "X-Request-ID"
"""The header that carries the id, in requests and in responses."""

ROUTE: Final = "wirewright.route"
"""The key of a scope under which the path of the route stands, once it is known."""

PROBES: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that are asked every few seconds: each of their requests would be a line of the log."""

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_TRACEPARENT: Final = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")


class RequestId:
    """ASGI middleware that gives each request its id, and logs how the request ended.

    Args:
        app: the application that answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, begun, status = Headers(scope=scope), perf_counter(), 500
        # Not taken back at the end: what the server logs of a failure after this still belongs to the request, and its
        # task ends with it.
        bind_fields(request_id=request_id_of(headers))

        async def marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update(request_id_headers())
            await send(message)

        if scope["path"] in PROBES:
            await self._app(scope, receive, marked)
            return
        with request_span(scope["method"], headers) as span:
            try:
                await self._app(scope, receive, marked)
            finally:
                route: str = scope.get(ROUTE, "none")
                span.set_attributes({"http.route": route, "http.response.status_code": status})
                seconds = perf_counter() - begun
                log_event(
                    "server.request.finished",
                    method=scope["method"] if scope["method"] in _METHODS else "other",
                    route=route,
                    status=status,
                    duration_ms=round(seconds * 1000, 1),
                )


_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


def request_id_of(headers: Headers) -> str:
    """The id of a request: that of its `X-Request-ID`, the trace of its `traceparent`, or a new one.

    An id that is not 1 to 64 letters, digits and `._:-`, or that looks like a key, is not taken.
    """
    given = headers.get(HEADER, "")
    if _ID.fullmatch(given) and without_keys(given) == given:
        return given
    traced = _TRACEPARENT.fullmatch(headers.get("traceparent", ""))
    return uuid4().hex if traced is None else traced[1]


def request_id_headers() -> Mapping[str, str]:
    """The header of the response to the current request; none outside of one."""
    request_id = context_fields().get("request_id")
    return {} if request_id is None else {HEADER: request_id}
