"""Runs of an echo flow by `Runner.run`, on a warm engine."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from benchmarks.against.process import Worker, worker
from benchmarks.against.side import Side
from benchmarks.against.stage import Metric, Stage
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


async def alone(working: Worker) -> float:
    """One run after another."""
    return await working.ask("run", runs=RUNS, at_once=1)


async def paired(working: Worker) -> float:
    """Two runs at once."""
    return await working.ask("run", runs=RUNS, at_once=2)


STAGE = Stage(
    open=warm,
    metrics=(
        Metric(name="run-alone", unit="ms", measure=alone, rounds=16),
        Metric(name="run-two-at-once", unit="ms", measure=paired, rounds=16),
    ),
)
