"""Waiting for work until the client disconnects or the server stops."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

import anyio
from starlette.requests import Request

from server.errors import ApiError, ClientGone

T = TypeVar("T")

CLEANUP_SECONDS = 5.0
"""How long cancelled work may take to clean up."""


class ServerStopping(Exception):
    """The server is stopping."""


class TimeIsOver(Exception):
    """The work has taken as long as it may."""


async def until(stop: asyncio.Event, stream: AsyncIterator[T]) -> AsyncGenerator[T]:
    """The items of a stream until the server stops.

    Args:
        stop: set when the server stops.
        stream: the stream, which is not closed here.

    Raises:
        ServerStopping: the server stops before the stream has ended.
    """
    stopping = asyncio.ensure_future(stop.wait())
    following: asyncio.Future[T] | None = None
    try:
        while not stop.is_set():
            following = asyncio.ensure_future(_next(stream))
            await asyncio.wait((following, stopping), return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                try:
                    item = following.result()
                except StopAsyncIteration:
                    return
                yield item
        raise ServerStopping
    finally:
        await _end(stopping, *([following] if following else []))


async def while_connected(request: Request, stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T:
    """The result of some work, which is cancelled when its client disconnects or the server stops.

    Work that waits for nothing is not watched: to watch it would take longer than most of it.

    Args:
        request: the request of the client, with its body already read.
        stop: set when the server stops.
        work: what to do.

    Raises:
        ClientGone: the client has disconnected.
        ApiError: 503, the server is stopping.
    """
    task = asyncio.ensure_future(work)
    watching: list[asyncio.Future[Any]] = []
    try:
        await asyncio.sleep(0)  # it begins
        if task.done():
            return task.result()
        gone, stopping = asyncio.ensure_future(_disconnected(request)), asyncio.ensure_future(stop.wait())
        watching += gone, stopping
        await asyncio.wait((task, gone, stopping), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if gone.done():
            raise ClientGone
        raise stops()
    finally:
        await _end(task, *watching)


def stops() -> ApiError:
    """The answer to a request whose work the server has ended because it stops."""
    return ApiError(503, "stopping", "The server is stopping.", "Try again when it is back.")


async def last(stream: AsyncGenerator[T]) -> T:
    """The last item of a stream, which is closed afterwards.

    Raises:
        LookupError: it was empty.
    """
    found: list[T] = []
    async with aclosing(stream) as items:
        async for item in items:
            found = [item]
    if not found:
        raise LookupError("The stream was empty.")
    return found[0]


async def _next(stream: AsyncIterator[T]) -> T:
    return await anext(stream)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _end(*futures: asyncio.Future[Any]) -> None:
    """Cancel what still runs, and wait for its clean-up even when this task is cancelled."""
    running = [future for future in futures if not future.done()]
    for future in running:
        future.cancel()
    if running:
        with anyio.move_on_after(CLEANUP_SECONDS, shield=True):
            await asyncio.wait(running)
    for future in futures:
        if future.done() and not future.cancelled():
            future.exception()  # seen: nobody waits for what came too late
