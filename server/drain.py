"""Draining: a server that is about to stop takes no new work, and waits for what is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from server.error_body import error_json
from server.json_response import JsonResponse

LOOK_SECONDS: Final = 0.05
"""How often a draining server looks whether anything is still under way."""

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Drain:
    """Whether a server drains, and what is under way in it.

    Args:
        more: counts work that outlives its requests.
    """

    def __init__(self, more: Callable[[], int] = lambda: 0) -> None:
        self.more = more
        self.deadline: float | None = None
        """When what is under way is interrupted, in the time of the loop; None while the server takes work."""
        self.on_begin: list[Callable[[], None]] = []
        """Called when the server begins to drain: ends streams that would last as long as their clients want."""
        self._requests = 0
        self.on_done: Callable[[], None] = lambda: None
        """Called when a piece of work has ended."""

    @property
    def under_way(self) -> int:
        """How much work has begun and not ended: at least as many as there are turns and runs."""
        return max(self._requests, self.more())

    def seconds_left(self) -> int:
        """Seconds, rounded up and at least 1, until another process may answer in this one's place."""
        now = asyncio.get_running_loop().time()
        return max(1, int((self.deadline or now) - now) + 1)

    @contextmanager
    def work(self) -> Generator[None]:
        """Count a piece of work for as long as the block lasts."""
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1
            self.on_done()

    async def wait(self, seconds: float) -> int:
        """Take no more work, and wait until what is under way has ended; returns how much has not.

        Args:
            seconds: how long to wait at most.
        """
        loop = asyncio.get_running_loop()
        self.deadline = loop.time() + seconds
        for begin in self.on_begin:
            begin()
        while self.under_way and (left := self.deadline - loop.time()) > 0:  # noqa: ASYNC110  (the turns' queue tells nobody)
            await asyncio.sleep(min(LOOK_SECONDS, left))
        return self.under_way


class DrainCheck:
    """ASGI middleware that counts requests which change something, and refuses them once the server drains.

    What only ends or removes something is still taken: it makes the wait shorter.

    Args:
        app: the application that gets the requests that pass.
        drain: says whether the server drains.
    """

    def __init__(self, app: ASGIApp, drain: Drain) -> None:
        self._app = app
        self._drain = drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] in _READS or _ends_something(scope):
            await self._app(scope, receive, send)
            return
        if self._drain.deadline is not None:
            message, fix = "The server is stopping and takes nothing new.", "Try again when it is back."
            headers = {"Retry-After": str(self._drain.seconds_left()), "Connection": "close"}
            await JsonResponse(error_json("stopping", message, fix), 503, headers)(scope, receive, send)
            return
        with self._drain.work():
            await self._app(scope, receive, send)


def _ends_something(scope: Scope) -> bool:
    return scope["method"] == "DELETE" or scope["path"].endswith(("/cancel", "/stop"))
