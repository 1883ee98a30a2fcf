"""A server that leaves turns to a worker: what the worker costs while it is idle, and how soon it begins a turn."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

import httpx

from benchmarks.durable.places import WIREWRIGHT, environment, worker
from benchmarks.script import OFF_TOPIC, any_turn
from benchmarks.serving import serve, settle
from scripts.scripted_provider import ScriptedProvider
from tests.databases.postgres import Cluster

IDLE_SECONDS: Final = 15.0
TURNS: Final = 25


async def measure(cluster: Cluster) -> list[str]:
    """Measure a worker for turns on a Postgres."""
    with tempfile.TemporaryDirectory() as folder:
        async with ScriptedProvider(any_turn).serve() as base:
            settings = environment(
                base, Path(folder), WIREWRIGHT_DATABASE=cluster.schema(), WIREWRIGHT_WORK_HERE="false"
            )
            async with serve(WIREWRIGHT, settings) as server, worker(settings) as process:
                await asyncio.to_thread(settle, process.pid)
                before = processor_seconds(process.pid)
                await asyncio.sleep(IDLE_SECONDS)
                idle = processor_seconds(process.pid) - before
                begun = sorted([await first_event(server.client) for _ in range(TURNS)][2:])
    waited = (
        f"the first event of a person's turn on an idle worker: {median(begun) * 1000:.0f} ms after it was asked for, "
        f"{begun[-1] * 1000:.0f} at worst (target: 300)"
    )
    return [f"an idle worker for turns: {100 * idle / IDLE_SECONDS:.1f} % of a processor (target: at most 3)", waited]


def processor_seconds(pid: int) -> float:
    """What a process has used of a processor, without the processes below it."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def first_event(client: httpx.AsyncClient) -> float:
    """After how many seconds the first event of a turn comes; the turn is followed to its end."""
    await asyncio.sleep(0.4)
    begun, first = time.perf_counter(), 0.0
    body = {"input_value": OFF_TOPIC, "details": True}
    async with client.stream("POST", "/api/v1/agentic/assist/stream", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: ") and not first:
                first = time.perf_counter() - begun
    return first
