"""uvicorn that stops as soon as it is asked to; its own server looks ten times a second, and then waits once more."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from typing import Final

import uvicorn

TICK_SECONDS: Final = 1.0
"""How often the date of responses is set anew."""

POLL_SECONDS: Final = 0.01
"""How often a server that stops looks whether its requests have ended, once they have not ended at once."""

_TURNS: Final = 3
"""Rounds of the event loop in which a connection that nobody uses is closed."""

_log = logging.getLogger("uvicorn.error")


class Server(uvicorn.Server):
    """An HTTP server that `stop` stops."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Take no more requests, and end when the open ones have; may be called by a signal handler or a thread."""
        self.should_exit = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and the server with it
                self._loop.call_soon_threadsafe(self._stopped.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start answering."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    async def main_loop(self) -> None:
        """Set the date of responses, until the server is stopped."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._stopped.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, close those that nobody uses, and wait for requests within the limit."""
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        for connection in tuple(self.server_state.connections):
            connection.shutdown()
        try:
            async with asyncio.timeout(self.config.timeout_graceful_shutdown):
                await self._requests_ended()
        except TimeoutError:
            tasks = tuple(self.server_state.tasks)
            _log.error("Cancel %s running task(s), timeout graceful shutdown exceeded", len(tasks))
            for task in tasks:
                task.cancel(msg="Task cancelled, timeout graceful shutdown exceeded")
        if not self.force_exit:
            await self.lifespan.shutdown()

    async def _requests_ended(self) -> None:
        """Wait for connections and tasks, unless the end is forced."""
        state, turn = self.server_state, 0
        while (state.connections or state.tasks) and not self.force_exit:
            await asyncio.sleep(0 if turn < _TURNS else POLL_SECONDS)
            turn += 1
        for listening in self.servers:
            await listening.wait_closed()
