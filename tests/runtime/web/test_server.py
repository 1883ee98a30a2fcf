"""A server that is asked to stop waits for its requests, and for nothing else."""

import asyncio
import socket
from collections.abc import Coroutine
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from runtime.web.server import Server

MANY = 2000
"""Rounds of the event loop: more than a server needs to stop."""


class FrozenLoop(asyncio.SelectorEventLoop):
    """A loop in which no time passes: whoever waits for a time waits for ever."""

    def time(self) -> float:
        return 0.0


async def ended(task: "asyncio.Task[None]") -> bool:
    """Whether a task ends without time passing."""
    for _ in range(MANY):
        if task.done():
            return True
        await asyncio.sleep(0)
    task.cancel()
    return False


def made(release: asyncio.Event, entered: asyncio.Event) -> Server:
    """A server whose one request is answered once it is released."""

    async def answer(_: Request) -> PlainTextResponse:
        entered.set()
        await release.wait()
        return PlainTextResponse("answered")

    app = Starlette(routes=[Route("/", answer)])
    return Server(uvicorn.Config(app, lifespan="off", log_config=None, timeout_graceful_shutdown=60))


def in_frozen_time(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=FrozenLoop) as runner:
        runner.run(work)


def test_a_server_that_nobody_uses_stops_at_once() -> None:
    async def stopped() -> None:
        server = made(asyncio.Event(), asyncio.Event())
        serving = asyncio.create_task(server.serve(sockets=[socket.create_server(("127.0.0.1", 0))]))
        while not server.started:  # noqa: ASYNC110  (uvicorn has no event for it)
            await asyncio.sleep(0)
        server.stop()
        assert await ended(serving)

    in_frozen_time(stopped())


def test_a_connection_that_is_kept_is_closed_at_once() -> None:
    async def stopped() -> None:
        release = asyncio.Event()
        release.set()
        server, listening = made(release, asyncio.Event()), socket.create_server(("127.0.0.1", 0))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        server.stop()
        assert await ended(serving)
        writer.close()

    in_frozen_time(stopped())


@pytest.mark.anyio
async def test_an_open_request_is_answered_before_the_end() -> None:
    release, entered, listening = asyncio.Event(), asyncio.Event(), socket.create_server(("127.0.0.1", 0))
    server = made(release, entered)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    async with httpx.AsyncClient(trust_env=False) as client:
        asked = asyncio.create_task(client.get(f"http://127.0.0.1:{listening.getsockname()[1]}/"))
        await entered.wait()
        server.stop()
        assert not await ended(asyncio.create_task(asyncio.wait_for(asyncio.shield(serving), None)))
        release.set()
        assert (await asked).text == "answered"
        await serving


@pytest.mark.anyio
async def test_a_forced_end_waits_for_no_request() -> None:
    entered, listening = asyncio.Event(), socket.create_server(("127.0.0.1", 0))
    server = made(asyncio.Event(), entered)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    async with httpx.AsyncClient(trust_env=False) as client:
        asked = asyncio.create_task(client.get(f"http://127.0.0.1:{listening.getsockname()[1]}/"))
        await entered.wait()
        server.force_exit = True
        server.stop()
        await serving
        asked.cancel()
