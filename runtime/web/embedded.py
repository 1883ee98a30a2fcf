"""An HTTP server inside a process that has another purpose, such as the gateway or the port for metrics."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Generator
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from runtime.web.connections import Connection
from runtime.web.server import Server

CLOSE_SECONDS: Final = 2.0
"""How long its open requests may take to end."""


class _Server(Server):
    """A server without signal handlers, which belong to the process that embeds it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class EmbeddedServer:
    """Serves an application on a listening socket, in a task of its own.

    Args:
        app: what it serves.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._server = _Server(
            uvicorn.Config(
                app,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                ws="none",
                http=Connection,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=1,
            )
        )
        self._serving: asyncio.Task[None] | None = None

    @property
    def is_serving(self) -> bool:
        """Whether it answers."""
        return self._serving is not None and not self._serving.done()

    def start(self, listening: socket.socket) -> None:
        """Answer what comes to a socket, which is closed at the end."""

        async def serve() -> None:
            with listening:
                await self._server.serve(sockets=[listening])

        self._serving = asyncio.create_task(serve())

    async def aclose(self) -> None:
        """Stop, within limits."""
        serving, self._serving = self._serving, None
        if serving is None:
            return
        self._server.stop()
        done, _ = await asyncio.wait([serving], timeout=CLOSE_SECONDS)
        if not done:
            serving.cancel()
            await asyncio.wait([serving], timeout=CLOSE_SECONDS)
