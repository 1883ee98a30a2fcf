"""The gateway as a server: on a free loopback port, from the first run that needs it until the runner closes."""

from __future__ import annotations

import socket

from runtime.gateway.accounts import OnWait, RunAccount
from runtime.gateway.app import gateway_app
from runtime.gateway.errors import UNKNOWN_KEY, CallRefused
from runtime.gateway.models import Models
from runtime.web.embedded import EmbeddedServer

HOST = "127.0.0.1"


class GatewayServer:
    """Serves the model calls of runs. All methods belong to one loop; `start` and `aclose` may be called repeatedly."""

    def __init__(self) -> None:
        """Serve nothing yet."""
        self._accounts: dict[str, RunAccount] = {}
        self._server: EmbeddedServer | None = None
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
        if self._server is not None and self._server.is_serving:
            return
        listening = socket.create_server((HOST, 0), backlog=128)
        self.port = int(listening.getsockname()[1])
        self._server = EmbeddedServer(gateway_app(self.find))
        self._server.start(listening)

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
        server, self._server = self._server, None
        if server is not None:
            await server.aclose()
