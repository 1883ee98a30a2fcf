"""Measures jobs on workers: `python -m benchmarks.jobs POSTGRES_URL`; each figure is printed as a line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import text

from benchmarks.jobs.queue_of_dbos import measured
from runtime.database.database import Database
from runtime.jobs.job import BATCH, Job, NewJob
from runtime.jobs.rows import Jobs

STATISTICS = text(
    "SELECT xact_commit, (SELECT wal_bytes FROM pg_stat_wal) AS wal, "
    "(SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections "
    "FROM pg_stat_database WHERE datname = current_database()"
)


@asynccontextmanager
async def started(url: str, name: str, places: int, data: Path) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A worker in a process of its own."""
    command = (sys.executable, "-m", "benchmarks.jobs.worker", url, name, str(places), str(data))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    await process.stdout.readline()
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def say(**figures: Any) -> None:
    """Print figures."""
    sys.stdout.write(f"{json.dumps(figures)}\n")
    sys.stdout.flush()


async def statistics(database: Database) -> Any:
    """What Postgres has counted."""
    async with database.reading() as connection:
        return (await connection.execute(STATISTICS)).one()


async def finished(jobs: Jobs, owner: str) -> None:
    """Wait until every job of a user has ended."""
    while (await jobs.page(owner, 1, state="done"))[1] < (await jobs.page(owner, 1))[1]:  # noqa: ASYNC110  (workers end them)
        await asyncio.sleep(0.1)


async def throughput(database: Database, data: Path, workers: int, places: int, count: int, seconds: float) -> None:
    """How many jobs a second some workers do, and what Postgres has to do for each."""
    jobs, owner = Jobs(database), f"user-{uuid4().hex[:6]}"
    async with AsyncExitStack() as stack:
        for number in range(workers):
            await stack.enter_async_context(started(database.url, f"{owner}-{number}", places, data))
        before, begun = await statistics(database), time.monotonic()
        given = {"seconds": seconds}
        await jobs.add(
            [
                NewJob(id=str(at), owner=owner, kind="run", queue="runs", rank=BATCH, given={**given})
                for at in range(count)
            ]
        )
        await finished(jobs, owner)
        took, after = time.monotonic() - begun, await statistics(database)
    say(
        workers=workers,
        places=places,
        job_seconds=seconds,
        jobs_per_second=round(count / took, 1),
        commits_per_job=round((after.xact_commit - before.xact_commit) / count, 2),
        wal_bytes_per_job=round(float(after.wal - before.wal) / count),
        connections=after.connections,
    )


async def idle(database: Database, data: Path, seconds: float) -> None:
    """What an idle worker costs, and how soon it begins a person's job."""
    jobs, owner = Jobs(database), f"user-{uuid4().hex[:6]}"
    async with started(database.url, owner, 4, data) as process:
        await asyncio.sleep(seconds)
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        used = float(await process.stdout.readline())
        await process.wait()
    say(idle_percent_of_a_core=round(100 * used / seconds, 2))
    waited: list[float] = []
    async with started(database.url, owner, 4, data):
        for number in range(20):
            await asyncio.sleep(0.3)
            await jobs.add([NewJob(id=str(number), owner=owner, kind="run", queue="runs")])
            begun = time.monotonic()
            while not (await jobs.get(owner, str(number))).has_ended:  # noqa: ASYNC110  (no event tells)
                await asyncio.sleep(0.005)
            job: Job = await jobs.get(owner, str(number))
            waited.append(time.monotonic() - begun)
            assert job.started_at is not None
    ordered = sorted(waited)
    say(person_waited_median=round(ordered[10], 3), person_waited_worst=round(ordered[-1], 3))


async def _main(url: str, *, with_dbos: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(url, Path(folder), migrates=True)
        await database.open()
        try:
            for workers in (1, 2, 3):
                await throughput(database, Path(folder), workers, 4, 300, 0.05)
            await throughput(database, Path(folder), 2, 16, 300, 0.05)
            await throughput(database, Path(folder), 1, 16, 600, 0.0)
            await idle(database, Path(folder), 10.0)
            if with_dbos:
                found = await measured(url, 300, 0.05, 4)
                say(dbos={name: round(value, 2) for name, value in found.items()})
        finally:
            await database.aclose()


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("url", help="a Postgres: postgresql+psycopg://user@/name?host=…")
    reader.add_argument("--without-dbos", action="store_true")
    given = reader.parse_args()
    asyncio.run(_main(given.url, with_dbos=not given.without_dbos))
