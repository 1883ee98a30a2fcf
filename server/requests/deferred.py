"""Endpoints whose modules are imported by the first request that they get."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import ModuleType
from typing import Any

from starlette.routing import request_response
from starlette.types import ASGIApp, Receive, Scope, Send


class Deferred:
    """The ASGI application of an endpoint that is not imported yet.

    Args:
        load: imports the module and returns it.
        name: the endpoint in it, a function or a class as `starlette.routing.Route` takes them.
    """

    def __init__(self, load: Callable[[], ModuleType], name: str) -> None:
        self._load = load
        self._name = name
        self._app: ASGIApp | None = None

    @property
    def endpoint(self) -> Any:
        """The endpoint; it is imported now, if it is not yet."""
        return getattr(self._load(), self._name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. The import is done in a thread, so that other requests do not wait for it."""
        app = self._app
        if app is None:
            endpoint: Any = getattr(await asyncio.to_thread(self._load), self._name)
            app = self._app = endpoint if isinstance(endpoint, type) else request_response(endpoint)
        await app(scope, receive, send)
