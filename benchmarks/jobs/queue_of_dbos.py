"""The same jobs on a partitioned queue of DBOS: what it gives in a second, and when another user's first job begins."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

from dbos import DBOS, SetEnqueueOptions

from runtime.durable.engine import DurableEngine

QUEUE: Final = "bench"


@DBOS.workflow(name="bench_job")
async def bench_job(seconds: float) -> float:
    """Waits, and says when it began."""
    begun = time.time()
    await asyncio.sleep(seconds)
    return begun


async def measured(url: str, jobs: int, seconds: float, places: int) -> dict[str, float]:
    """What one worker of so many places does with the queue.

    Args:
        url: the database.
        jobs: how many jobs the first user has.
        seconds: how long each takes.
        places: how many go on at once.
    """
    engine = DurableEngine(url, "bench")
    await engine.launch()
    await asyncio.to_thread(
        DBOS.register_queue,
        QUEUE,
        worker_concurrency=places,
        partition_concurrency=places,
        polling_interval_sec=0.1,
        on_conflict="always_update",
    )
    begun = time.time()
    with SetEnqueueOptions(queue_partition_key="ada"):
        first: list[Any] = [await DBOS.enqueue_workflow_async(QUEUE, bench_job, seconds) for _ in range(jobs)]
    put = time.time() - begun
    asked = time.time()
    with SetEnqueueOptions(queue_partition_key="bob"):
        other = await DBOS.enqueue_workflow_async(QUEUE, bench_job, seconds)
    started = await other.get_result(polling_interval_sec=0.02)
    for handle in first:
        await handle.get_result(polling_interval_sec=0.02)
    took = time.time() - begun
    await engine.aclose()
    return {"jobs_per_second": jobs / took, "put_per_second": jobs / put, "other_waited": started - asked}
