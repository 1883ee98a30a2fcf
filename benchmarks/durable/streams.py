"""Events to many streams through a server that does not take their turns: how many a second, and how late."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles
from typing import Final

from benchmarks.durable.places import WIREWRIGHT, environment
from benchmarks.serving import Served, serve
from tests.databases.postgres import Cluster

STREAMS: Final = 200
A_SECOND: Final = (400, 1_500)
SECONDS: Final = 8.0
_STAMP: Final = re.compile(rb"@([0-9.]+)@")


async def measure(cluster: Cluster, streams: int = STREAMS) -> list[str]:
    """Follow as many turns as there are streams, at several rates."""
    return [await followed(cluster, streams, rate) for rate in A_SECOND]


async def followed(cluster: Cluster, streams: int, a_second: int) -> str:
    """Follow turns whose events come at a rate.

    Args:
        cluster: a Postgres.
        streams: how many.
        a_second: how many events are written in a second, of all turns together.
    """
    with tempfile.TemporaryDirectory() as folder:
        url, data = cluster.schema(), Path(folder)
        settings = environment("http://127.0.0.1:9", data, WIREWRIGHT_DATABASE=url, WIREWRIGHT_WORK_HERE="false")
        async with serve(WIREWRIGHT, settings) as server:
            await server.client.get("/api/v1/agentic/turns/none/events")  # which opens the database
            command = (sys.executable, "-m", "benchmarks.durable.writer", url, folder, str(streams))
            writer = await asyncio.create_subprocess_exec(
                *(*command, str(a_second), str(SECONDS)), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
            )
            assert writer.stdin is not None and writer.stdout is not None  # noqa: PT018  (pipes)
            await writer.stdout.readline()
            late: list[float] = []
            opened = asyncio.Semaphore(0)
            following = [asyncio.create_task(follow(server, f"s{at}", late, opened)) for at in range(streams)]
            for _ in range(streams):
                await opened.acquire()
            begun = time.monotonic()
            writer.stdin.write(b"go\n")
            await writer.stdin.drain()
            await asyncio.gather(*following)
            took = time.monotonic() - begun
            sent = int(await writer.stdout.readline())
            await writer.wait()
    parts = quantiles(late, n=100)
    middle, most, rate = parts[49] * 1000, parts[94] * 1000, len(late) / took
    return (
        f"{sent:,} events of {streams} turns, {a_second:,} written a second, through another server: {len(late):,} "
        f"came, {rate:,.0f} a second, after {middle:.0f} ms in the median and {most:.0f} for 95 % of them "
        "(target: 1,500 a second, under 20)"
    )


async def follow(server: Served, turn: str, late: list[float], opened: asyncio.Semaphore) -> None:
    """Follow a turn to its end, and note how late each event comes."""
    address = server.client.base_url
    reader, writer = await asyncio.open_connection(address.host, address.port)
    authorization = server.client.headers["Authorization"]
    writer.write(
        f"GET /api/v1/agentic/turns/{turn}/events HTTP/1.1\r\nHost: {address.host}:{address.port}\r\n"
        f"Authorization: {authorization}\r\nConnection: close\r\n\r\n".encode()
    )
    await writer.drain()
    await reader.readuntil(b"\r\n\r\n")
    opened.release()
    rest = b""
    while some := await reader.read(65_536):
        now, rest = time.monotonic(), rest + some
        end = 0
        for found in _STAMP.finditer(rest):
            late.append(now - float(found[1]))
            end = found.end()
        rest = rest[end:]
    writer.close()
