"""The gateway as a server: on a free loopback port, from the first run that needs it until the runner closes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Generator

import uvicorn

from runtime.gateway.accounts import OnWait, RunAccount
from runtime.gateway.app import gateway_app
from runtime.gateway.errors import UNKNOWN_KEY, CallRefused
from runtime.gateway.models import Models
from runtime.web.connections import Connection

HOST = "127.0.0.1"
CLOSE_SECONDS = 2.0


class _Server(uvicorn.Server):
    """uvicorn without signal handlers, which belong to the process that embeds it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class GatewayServer:
    """Serves the model calls of runs. All methods belong to one loop; `start` and `aclose` may be called repeatedly."""

    def __init__(self) -> None:
        """Serve nothing yet."""
        self._accounts: dict[str, RunAccount] = {}
        self._serving: asyncio.Task[None] | None = None
        self._server: _Server | None = None
        self.port = 0
        """The loopback port that it listens on, once started."""

    @property
    def url(self) -> str:
        """The base URL for OpenAI-compatible clients."""
        return f"http://{HOST}:{self.port}/v1"

    def start(self) -> None:
        """Listen, unless already listening; connections are accepted once this returns.

        Raises:
            OSError: no port is available.
        """
        if self._serving is not None and not self._serving.done():
            return
        listening = socket.create_server((HOST, 0), backlog=128)
        self.port = int(listening.getsockname()[1])
        config = uvicorn.Config(
            gateway_app(self.find),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            http=Connection,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._serve(self._server, listening))

    async def _serve(self, server: _Server, listening: socket.socket) -> None:
        with listening:
            await server.serve(sockets=[listening])

    def open(self, models: Models, patience: float = 0.0, on_wait: OnWait | None = None) -> RunAccount:
        """Open an account for a run, as `RunAccount` says; `close` ends it."""
        account = RunAccount(models, patience, on_wait)
        self._accounts[account.token] = account
        return account

    def close(self, account: RunAccount) -> None:
        """End an account: from now on its keys are refused, and its calls end. Closing it again does nothing."""
        self._accounts.pop(account.token, None)
        account.close()

    def find(self, key: str) -> tuple[RunAccount, str | None]:
        """The account that a key belongs to, and the node that calls.

        Raises:
            CallRefused: the key belongs to no open account.
        """
        token, _, mark = key.partition(".")
        account = self._accounts.get(token)
        if account is None:
            raise CallRefused(UNKNOWN_KEY)
        return account, account.node(mark)

    async def aclose(self) -> None:
        """End every account and stop listening."""
        for account in list(self._accounts.values()):
            self.close(account)
        serving, self._serving = self._serving, None
        if serving is None or self._server is None:
            return
        self._server.should_exit = True
        done, _ = await asyncio.wait([serving], timeout=CLOSE_SECONDS)
        if not done:
            serving.cancel()
            await asyncio.wait([serving], timeout=CLOSE_SECONDS)
