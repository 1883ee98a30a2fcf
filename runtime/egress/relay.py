"""Carries what a run and a host say to each other, and counts it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable

import h11

from runtime.egress.account import Traffic
from runtime.egress.connecting import Streams
from runtime.egress.http import CHUNK, MAX_HEAD, end_to_end, events
from runtime.egress.policy import HostRefused, place
from runtime.results import RunError


async def tunnel(client: h11.Connection, run: Streams, host: Streams, traffic: Traffic) -> None:
    """Answer a CONNECT request, and carry bytes both ways until the host ends, or both do."""
    run[1].write(client.send(h11.Response(status_code=200, reason=b"Connected", headers=[])) or b"")
    early, _ = client.trailing_data
    if early:
        traffic.sent += len(early)
        host[1].write(early)
    await run[1].drain()

    def sent(size: int) -> None:
        traffic.sent += size

    def received(size: int) -> None:
        traffic.received += size

    upward = asyncio.create_task(_carry(run[0], host[1], sent))
    try:
        await _carry(host[0], run[1], received)
    finally:
        upward.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await upward


async def _carry(source: asyncio.StreamReader, target: asyncio.StreamWriter, count: Callable[[int], None]) -> None:
    while data := await source.read(CHUNK):
        target.write(data)
        await target.drain()
        count(len(data))
    if target.can_write_eof():
        target.write_eof()


class _Upstream:
    """The connection to a host, as the client that the proxy is there."""

    def __init__(self, streams: Streams, traffic: Traffic) -> None:
        self._reader, self._writer = streams
        self._traffic = traffic
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)

    async def send(self, event: h11.Event) -> None:
        data = self._connection.send(event) or b""
        self._writer.write(data)
        await self._writer.drain()
        self._traffic.sent += len(data)

    def events(self) -> AsyncGenerator[h11.Event]:
        return events(self._connection, self._reader, self._received)

    def _received(self, size: int) -> None:
        self._traffic.received += size


async def forward(
    client: h11.Connection, request: h11.Request, path: bytes, run: Streams, host: Streams, traffic: Traffic
) -> None:
    """Send one request on, and its answer back.

    Raises:
        HostRefused: the host does not answer in HTTP, and nothing was sent back yet.
    """
    where = place(traffic.host, traffic.port)
    authority = where if traffic.port != 80 else where.rpartition(":")[0]
    passed = [(name, value) for name, value in end_to_end(request.headers) if name != b"host"]
    upstream = _Upstream(host, traffic)
    await upstream.send(
        h11.Request(method=request.method, target=path, headers=[(b"host", authority.encode("ascii")), *passed])
    )
    if client.they_are_waiting_for_100_continue:
        run[1].write(client.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
    body = asyncio.create_task(_send_body(client, run[0], upstream))
    started = False
    try:
        async for event in upstream.events():
            if isinstance(event, h11.InformationalResponse):
                continue
            if isinstance(event, h11.Response):
                kept = [(name, value) for name, value in end_to_end(event.headers) if name != b"transfer-encoding"]
                event = h11.Response(status_code=event.status_code, reason=event.reason, headers=kept)
                started = True
            run[1].write(client.send(event) or b"")
            await run[1].drain()
    except (OSError, h11.RemoteProtocolError):
        if not started:
            message = f"The host {where} gave no answer in HTTP."
            raise HostRefused(RunError(code="external", message=message, fix="Check the address."), 504) from None
    finally:
        body.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError, h11.ProtocolError):
            await body


async def _send_body(client: h11.Connection, reader: asyncio.StreamReader, upstream: _Upstream) -> None:
    async for event in events(client, reader):
        await upstream.send(event)
