"""The HTTP services of a scenario: on loopback, deterministic, with the configured latency and failures."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import unquote_plus

import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from evals.service import Service

HOST = "127.0.0.1"
_CLOSE = {"connection": "close"}


@asynccontextmanager
async def serve(services: Sequence[Service]) -> AsyncGenerator[dict[str, str]]:
    """Serve a scenario's services, each on its own port; yields their addresses by name.

    Leaving the context stops them and drops open requests.
    """
    async with AsyncExitStack() as running:
        yield {service.name: await running.enter_async_context(_listening(_app(service))) for service in services}


@asynccontextmanager
async def _listening(app: ASGIApp) -> AsyncGenerator[str]:
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    with socket.create_server((HOST, 0)) as listener:
        await server.startup(sockets=[listener])  # not `serve`, which takes over signals and polls for its end
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}"
        finally:
            await _stop(server)


async def _stop(server: uvicorn.Server) -> None:
    """Stop without the tenth of a second for which `shutdown` waits."""
    for listening in server.servers:
        listening.close()
    for connection in tuple(server.server_state.connections):
        connection.transport.close()
    tasks = tuple(server.server_state.tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class _Protocol(H11Protocol):
    """HTTP whose application can drop a connection, and which closes it on anything that is not HTTP."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Hand the connection to the application, in its state."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}

    def send_400_response(self, msg: str) -> None:
        """Close the connection."""
        del msg
        self.transport.close()


async def _asks(request: Request, pattern: str | None) -> bool:
    """Whether a request has what a route is for, in its query or its body."""
    if pattern is None:
        return True
    query = unquote_plus(request.url.query)
    body = (await request.body()).decode("utf-8", errors="replace")
    return re.search(pattern, f"{query}\n{body}") is not None


def _app(service: Service) -> ASGIApp:
    requests: Counter[int] = Counter()

    async def answer(request: Request) -> Response | None:
        path = request.scope["raw_path"].decode("latin-1")
        for number, route in enumerate(service.routes):
            if route.method == request.method and route.path in ("*", path) and await _asks(request, route.asked):
                requests[number] += 1
                nth = requests[number]
                await asyncio.sleep(route.latency / 1000)
                if route.drops:
                    return None
                if nth <= route.failures:
                    return PlainTextResponse("unavailable", 503, _CLOSE)
                if route.text is not None:
                    return PlainTextResponse(route.text, route.status, _CLOSE)
                body = json.dumps(route.body, ensure_ascii=False)
                return Response(body, route.status, _CLOSE, "application/json")
        return PlainTextResponse("there is nothing here", 404, _CLOSE)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await request.body()
        response = await answer(request)
        if response is None:
            scope["state"]["transport"].close()
            await receive()  # until the connection is lost
        else:
            await response(scope, receive, send)

    return app
