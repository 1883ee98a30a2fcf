"""Serving: one process, one loopback address, until it is stopped."""

import asyncio
import logging
import os
import shlex
import shutil
import signal
import socket
import ssl
import sys
from collections.abc import Callable
from contextvars import Context
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette

from flows.gc_pause import SurvivorsFrozen, collection_paused
from runtime.telemetry import log_event
from runtime.tracing import disable_logfire
from runtime.web.connections import Connection
from runtime.web.embedded import EmbeddedServer
from runtime.web.server import Server
from server.durable.installed import DurableNotInstalled, check_installed
from server.memory import import_httpx
from server.settings import ServerSettings, is_loopback
from server.telemetry.tracing import is_traced

if TYPE_CHECKING:
    from agent.assistant import Assistant
    from server.drain import Drain
    from server.flow_tests.tester import FlowTester

STOP_SECONDS = 5
"""How long open requests may take to end when they are interrupted."""

BACKLOG = 128
"""Connections that may wait to be accepted."""


class CannotServe(Exception):
    """The server cannot start; the message and the fix are for the user."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class HttpServer(Server):
    """The HTTP server: reports when it listens, drains, and lets open streams send their last event.

    Args:
        app: what it serves.
        stopping: the event that open streams watch.
        listening: called once requests are answered.
        settings: the settings of the server.
        metrics: the socket of the port for metrics, which is closed at the end; None for none.
    """

    def __init__(
        self,
        app: Starlette,
        stopping: asyncio.Event,
        listening: Callable[[], None],
        settings: ServerSettings,
        metrics: socket.socket | None = None,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=STOP_SECONDS,
                proxy_headers=bool(settings.proxy_headers),
                forwarded_allow_ips=list(settings.proxy_headers),
                ssl_certfile=settings.tls_certificate,
                ssl_keyfile=settings.tls_key,
            )
        )
        self._app = app
        self._stopping = stopping
        self._listening = listening
        self._drain_seconds = settings.drain_seconds
        self._metrics = metrics
        self._metrics_server: EmbeddedServer | None = None
        self._draining: asyncio.Task[None] | None = None
        self._signalled = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start answering."""
        await super().startup(sockets)
        if self._metrics is not None and not self.should_exit:
            from server.routes.metrics import metrics_app

            self._metrics_server = EmbeddedServer(metrics_app(self._app.state.server.metrics))
            self._metrics_server.start(self._metrics)
        self._listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop answering."""
        if self._draining is not None:
            self._draining.cancel()
        if self._metrics_server is not None:
            await self._metrics_server.aclose()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  (a signal handler's form)
        """SIGTERM drains; SIGINT or a second signal interrupts what is under way; a further one waits for nobody."""
        if self.should_exit:
            self.force_exit = True
        elif sig == signal.SIGTERM and not self._signalled and self._loop is not None:
            # Not in the context of whatever a signal interrupts, which may be a request with its id.
            self._loop.call_soon_threadsafe(self.drain, context=Context())
        else:
            self.stop()
        self._signalled = True

    def drain(self) -> None:
        """Take no more work, and stop when what is under way has ended or its time is over."""
        if self._draining is None:
            self._draining = asyncio.ensure_future(self._drain())

    async def _drain(self) -> None:
        drain: Drain = self._app.state.drain
        log_event("server.draining", under_way=drain.under_way, seconds=self._drain_seconds)
        left = await drain.wait(self._drain_seconds)
        log_event("server.drained", logging.WARNING if left else logging.INFO, interrupted=left)
        self.stop()

    def stop(self) -> None:
        """Take no more requests, and end open streams; may be called from a signal handler or another thread."""
        super().stop()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)


def serve(
    settings: ServerSettings,
    announce: Callable[[str], None] | None = None,
    *,
    assistant: "Assistant | None" = None,
    as_json: bool = False,
    flow_tester: "Callable[[], FlowTester] | None" = None,
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        settings: the settings of the server.
        announce: gets the URL once requests are answered; None prints a line with it.
        assistant: takes the turns; None opens one.
        as_json: log JSON lines even on a terminal.
        flow_tester: makes what runs the saved tests of flows; None for a server that cannot.

    Raises:
        CannotServe: the address is taken, nobody could use the server, or it could not start.
    """
    _check_certificate(settings)
    if settings.is_durable:
        _check_durable()
    listener, metrics = bound(settings.host, settings.port), None
    if settings.metrics_port is not None:
        try:
            metrics = bound(settings.metrics_host, settings.metrics_port, "WIREWRIGHT_METRICS_PORT")
        except CannotServe:
            listener.close()
            raise
    url = address(listener, settings)
    with collection_paused(freeze=True):  # what is imported stays
        import_httpx()
        if not is_traced():
            disable_logfire()
        from runtime.database.backends.serving import hold_for_serving, name_connections
        from runtime.database.backends.urls import is_sqlite
        from runtime.database.errors import StoreUnavailable
        from server.access.auth import Access
        from server.app import create_app
        from server.telemetry.logs import configure_logs
        from server.telemetry.tracing import configure_traces

    configure_logs("json" if as_json else settings.log)
    configure_traces(content=settings.trace_content)
    stopping, lock = asyncio.Event(), None
    try:
        lock = hold_for_serving(settings.database_url)
        name_connections(settings.database_url)
        access = Access.open(settings.data)
        if not is_sqlite(settings.database_url):
            asyncio.run(_check_database(settings))
        if not is_loopback(settings.host):
            asyncio.run(_check_users(settings))
        tester = None if flow_tester is None else flow_tester()
        app = create_app(settings, assistant=assistant, stopping=stopping, access=access, flow_tester=tester)
        server = HttpServer(
            app, stopping, lambda: announce(url) if announce else _print(url, access.link(url)), settings, metrics
        )
        with SurvivorsFrozen():
            asyncio.run(server.serve(sockets=[listener]))
    except StoreUnavailable as unavailable:
        raise CannotServe(unavailable.message, unavailable.fix) from None
    except SystemExit:
        raise CannotServe("The server could not start.", "The log above says why.") from None
    finally:
        listener.close()
        if metrics is not None:
            metrics.close()
        if lock is not None:
            lock.release()


def bound(host: str, port: int, variable: str = "WIREWRIGHT_PORT") -> socket.socket:
    """A socket that listens, so that early clients wait instead of being refused.

    Args:
        host: the address.
        port: the port; 0 takes any free one.
        variable: names the setting of the port.

    Raises:
        CannotServe: the address is in use or not allowed.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, because asyncio turns Nagle's algorithm off only where it reads TCP: with it, the first
    # event of a stream waits 40 ms behind its headers.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        return listener
    except OSError:
        listener.close()
        raise CannotServe(
            f"Cannot listen on port {port} of {host}: it is taken or not allowed.",
            f"Stop what uses it, or set {variable} to another port.",
        ) from None


def address(listener: socket.socket, settings: ServerSettings | None = None) -> str:
    """The URL at which a listening socket is reached.

    Args:
        listener: the socket.
        settings: of the server: its first name stands for an address beyond this machine. None for a plain one.
    """
    host, port = listener.getsockname()[:2]
    if settings is not None and not is_loopback(host):
        host = settings.names[0]
    scheme = "https" if settings is not None and settings.is_encrypted else "http"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _check_durable() -> None:
    """Refuse to serve durable turns that nothing would record.

    Raises:
        CannotServe: the package for them is missing.
    """
    try:
        check_installed()
    except DurableNotInstalled as missing:
        raise CannotServe(missing.message, missing.fix) from None


def _check_certificate(settings: ServerSettings) -> None:
    """Read the certificate and its key before anything starts.

    Raises:
        CannotServe: they cannot be used.
    """
    if settings.tls_certificate is None or settings.tls_key is None:
        return
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(settings.tls_certificate, settings.tls_key)
    except (OSError, ssl.SSLError):
        raise CannotServe(
            "The certificate and its key cannot be used: a file is missing or not in PEM form, or they do not match.",
            "Check WIREWRIGHT_TLS_CERTIFICATE and WIREWRIGHT_TLS_KEY.",
        ) from None


async def _check_database(settings: ServerSettings) -> None:
    """Open a database that other servers may use, before anything is served.

    Raises:
        StoreUnavailable: it cannot be used, or its schema is an earlier one, which `wirewright migrate` is for.
    """
    from runtime.database.database import Database

    database = Database(settings.database_url, settings.data)
    try:
        await database.open()
    finally:
        await database.aclose()


async def _check_users(settings: ServerSettings) -> None:
    """Make sure that a server beyond this machine has a user.

    Raises:
        CannotServe: there is none whose token is valid.
        StoreUnavailable: the users cannot be read.
    """
    from runtime.accounts.users import Users
    from runtime.database.database import Database

    database = Database(settings.database_url, settings.data)
    try:
        if not await Users(database).are_there():
            raise CannotServe(
                "Beyond this machine, a server needs at least one user, and there is none.",
                "Add one: wirewright users add NAME",
            )
    finally:
        await database.aclose()


def _command() -> str:
    """How a shell in this folder calls the command: by its name, or by its path if it is not on the search path."""
    beside = Path(sys.executable).with_name("wirewright")
    if shutil.which("wirewright") or not beside.exists():
        return "wirewright"
    return shlex.quote(os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside))


def _print(url: str, link: str) -> None:
    command = _command()
    headers = f"""-H "Authorization: Bearer $({command} token)" -H 'Content-Type: application/json'"""
    request = """-d '{"input_value": "Build an echo flow"}'"""
    sys.stdout.write(f"Wirewright serves at {url}\n")
    sys.stdout.write(f"  browser   {link}\n  terminal  {command} chat\n")
    sys.stdout.write(f"  curl      curl {url}/api/v1/agentic/assist {headers} {request}\n")
    sys.stdout.flush()
