"""The HTTP services of a scenario: on loopback, deterministic, with the latency and the failures that it asks for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TypeAlias

from evals.service import Route, Service

HOST = "127.0.0.1"
REQUEST_SECONDS = 30.0
"""How long a client may take to send its request."""

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_Reader: TypeAlias = asyncio.StreamReader
_Writer: TypeAlias = asyncio.StreamWriter


@asynccontextmanager
async def serve(services: Sequence[Service]) -> AsyncGenerator[dict[str, str]]:
    """Serve a scenario's services; gives their addresses by name. Leaving ends them.

    Args:
        services: what is served, each on a port of its own.
    """
    running: list[tuple[asyncio.Server, _Service]] = []
    addresses: dict[str, str] = {}
    try:
        for service in services:
            answering = _Service(service)
            server = await asyncio.start_server(answering.connected, HOST, 0)
            running.append((server, answering))
            addresses[service.name] = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
        yield addresses
    finally:
        for server, answering in running:
            server.close()
            await answering.aclose()


class _Service:
    def __init__(self, service: Service) -> None:
        self._routes = service.routes
        self._asked = [0] * len(service.routes)
        self._open: set[asyncio.Task[None]] = set()

    async def connected(self, reader: _Reader, writer: _Writer) -> None:
        task = asyncio.create_task(self._conversation(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def aclose(self) -> None:
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _conversation(self, reader: _Reader, writer: _Writer) -> None:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                method, path = await _request(reader)
            answer = await self._answer(method, path)
            if answer is not None:
                writer.write(answer)
                await writer.drain()
        except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError):
            pass  # a client that leaves or sends no HTTP gets no answer
        finally:
            writer.close()

    async def _answer(self, method: str, path: str) -> bytes | None:
        for number, route in enumerate(self._routes):
            if route.method == method and route.path in ("*", path):
                self._asked[number] += 1
                await asyncio.sleep(route.latency / 1000)
                if route.drops:
                    return None
                failing = self._asked[number] <= route.failures
                return _response(503, "text/plain", b"unavailable") if failing else _given(route)
        return _response(404, "text/plain", b"there is nothing here")


async def _request(reader: _Reader) -> tuple[str, str]:
    method, target, _ = (await reader.readuntil(b"\r\n")).decode("latin-1").split(" ", 2)
    length = 0
    while (line := (await reader.readuntil(b"\r\n")).strip()) != b"":
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    await reader.readexactly(length)
    return method, target.partition("?")[0]


def _given(route: Route) -> bytes:
    if route.text is not None:
        return _response(route.status, "text/plain; charset=utf-8", route.text.encode())
    return _response(route.status, "application/json", json.dumps(route.body, ensure_ascii=False).encode())


def _response(status: int, kind: str, body: bytes) -> bytes:
    phrase = _PHRASES.get(status, "Status")
    lines = (
        f"HTTP/1.1 {status} {phrase}",
        f"content-type: {kind}",
        f"content-length: {len(body)}",
        "connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode() + body
