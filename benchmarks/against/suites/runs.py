"""Runs of an echo flow by `Runner.run`, on a warm engine."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from benchmarks.against.process import Worker, asking, worker
from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite
from benchmarks.serving import settle

RUNS = 8
"""Runs of which a figure is the mean."""


@asynccontextmanager
async def warm(side: Side) -> AsyncGenerator[Worker]:
    """A worker whose runner is ready and at rest."""
    async with worker(side) as working:
        await working.ask("start")
        await asyncio.to_thread(settle, os.getpid())
        yield working


SUITE = Suite(
    open=warm,
    metrics=(
        Metric(name="run-alone", unit="ms", measure=asking("run", runs=RUNS, at_once=1), rounds=16),
        Metric(name="run-two-at-once", unit="ms", measure=asking("run", runs=RUNS, at_once=2), rounds=16),
    ),
)
