"""The proxy: on a free loopback port, for runs that show their token; HTTP requests and CONNECT."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import h11

from runtime.egress.account import EgressAccount
from runtime.egress.connecting import Connect, Resolve, checked_target, connect, look_up, open_connection
from runtime.egress.http import MAX_HEAD, events, refuse, target_of, token_of
from runtime.egress.policy import EgressPolicy, HostRefused
from runtime.egress.relay import forward, tunnel
from runtime.results import RunError
from runtime.telemetry import log_event

HOST = "127.0.0.1"
USER = "run"
HEAD_SECONDS = 10.0
"""How long the head of a request may take."""
MAX_CONNECTIONS = 512
"""Connections at the same time, of all runs together; further ones are closed at once."""

_UNKNOWN = HostRefused(RunError(code="refused", message="The proxy of runs needs the token of a run."), 407)


class EgressProxy:
    """Serves every run of a runner. All methods belong to one loop; `start` and `aclose` may be called repeatedly."""

    def __init__(self, *, resolve: Resolve = look_up, connect: Connect = connect) -> None:
        """Serve nothing yet.

        Args:
            resolve: looks up names.
            connect: connects to addresses.
        """
        self._resolve = resolve
        self._connect = connect
        self._accounts: dict[str, EgressAccount] = {}
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0
        """The loopback port that it listens on, once started."""

    async def start(self) -> None:
        """Listen, unless already listening.

        Raises:
            OSError: no port is available.
        """
        if self._server is None:
            listening = socket.create_server((HOST, 0), backlog=128)
            self.port = int(listening.getsockname()[1])
            self._server = await asyncio.start_server(self._accept, sock=listening)

    def open(self, policy: EgressPolicy) -> EgressAccount:
        """Open an account for a run; `close` ends it."""
        account = EgressAccount(policy)
        self._accounts[account.token] = account
        return account

    def close(self, account: EgressAccount) -> None:
        """End an account: its token is refused from now on, and its connections end."""
        self._accounts.pop(account.token, None)
        account.close()

    def url(self, account: EgressAccount) -> str:
        """The address of the proxy with the credentials of an account."""
        return f"http://{USER}:{account.token}@{HOST}:{self.port}"

    async def aclose(self) -> None:
        """End every account and stop listening."""
        for account in list(self._accounts.values()):
            self.close(account)
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for connection in list(self._connections):
            connection.cancel()
        if self._connections:
            await asyncio.wait(self._connections, timeout=1.0)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None or len(self._connections) >= MAX_CONNECTIONS:
            writer.close()
            return
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, which is for one request."""
        client = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                request = await anext(events(client, reader), None)
            if isinstance(request, h11.Request):
                await self._answer(client, request, reader, writer)
        except h11.RemoteProtocolError as error:
            if client.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                unreadable = RunError(code="external", message="The run's proxy cannot read the request.")
                with contextlib.suppress(OSError):
                    await refuse(client, reader, writer, HostRefused(unreadable, error.error_status_hint))
        except (OSError, TimeoutError, h11.LocalProtocolError):
            pass  # the run has gone, or the host ended in the middle of its answer
        finally:
            writer.close()

    async def _answer(
        self, client: h11.Connection, request: h11.Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        account = self._accounts.get(token_of(request.headers))
        if account is None:
            challenge = [(b"proxy-authenticate", b'Basic realm="run"')]
            await refuse(client, reader, writer, _UNKNOWN, headers=challenge)
            return
        current = asyncio.current_task()
        if current is not None:
            account.enter(current)
        host, port = "", 0
        try:
            named, number, path = target_of(request)
            host, port = checked_target(named, number)
            async with account.slots:
                await self._carry(account, (host, port), client, request, path, (reader, writer))
        except HostRefused as refusal:
            if host:
                account.fail(host, port, refusal)
                log_event("runner.host.refused", code=refusal.error.code)
            if client.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                await refuse(client, reader, writer, refusal)

    async def _carry(
        self,
        account: EgressAccount,
        target: tuple[str, int],
        client: h11.Connection,
        request: h11.Request,
        path: bytes,
        run: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Connect to the host that a request is for, and carry what both say.

        Raises:
            HostRefused: the run may not reach it, or it does not answer.
        """
        if target in ((HOST, self.port), ("localhost", self.port)):
            raise HostRefused(RunError(code="refused", message="The proxy does not connect to itself."), 403)
        streams = await open_connection(account.policy, *target, resolve=self._resolve, connect=self._connect)
        try:
            traffic = account.traffic(*target)
            if request.method == b"CONNECT":
                async for _ in events(client, run[0]):
                    pass
                await tunnel(client, run, streams, traffic)
            else:
                await forward(client, request, path, run, streams, traffic)
        finally:
            streams[1].close()
