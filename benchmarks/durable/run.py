"""All that is measured of durable turns."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator

from benchmarks.durable import cost, streams, workers
from benchmarks.durable.places import postgres


async def measure() -> AsyncGenerator[str]:
    """Measure, one line after the other; without a Postgres what can be measured without."""
    yield f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    with postgres() as cluster:
        if cluster is not None:
            for line in [*await workers.measure(cluster), *await streams.measure(cluster)]:
                yield line
        for line in await cost.measure(cluster):
            yield line
    yield f"load of the machine after: {os.getloadavg()[0]:.1f}"
