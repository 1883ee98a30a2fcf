"""`python -m benchmarks.durable.curve`: turns on one, two and three workers, as lines of a table in Markdown.

Each turn is a question: two requests to a model that takes its time, and nothing is run. What is measured is what
workers, DBOS and Postgres add, on this one machine.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request

from benchmarks.client import play
from benchmarks.durable.places import WIREWRIGHT, environment, postgres, worker
from benchmarks.script import QUESTION, any_turn
from benchmarks.serving import Served, serve
from scripts.checkout import checkout_environment
from scripts.scripted_provider import Reply, ScriptedProvider
from tests.databases.postgres import Cluster

WORKERS: Final = (1, 2, 3)
PLACES: Final = 4
TURNS: Final = 60
WARM: Final = 6
"""Turns before those that count."""

MODEL_SECONDS: Final = 0.5
STATISTICS: Final = (
    "select (select sum(xact_commit)::int from pg_stat_database), (select wal_bytes::bigint from pg_stat_wal), "
    "(select count(*)::int from turn_events), (select count(*)::int from pg_stat_activity where datname is not null)"
)


class SlowProvider(ScriptedProvider):
    """A provider whose models take their time."""

    async def reply_to(self, request: Request) -> tuple[dict[str, Any], Reply]:
        """What it answers, after a while."""
        await asyncio.sleep(MODEL_SECONDS)
        return await super().reply_to(request)


async def measured(cluster: Cluster, workers: int) -> str:
    """How many turns a second some workers take, and what Postgres has to do for each.

    Args:
        cluster: a Postgres.
        workers: how many.
    """
    url = cluster.schema()
    schema = url.rpartition("%3D")[2]
    with tempfile.TemporaryDirectory() as folder:
        async with SlowProvider(any_turn).serve() as base, AsyncExitStack() as stack:
            settings = environment(base, Path(folder), WIREWRIGHT_DATABASE=url, WIREWRIGHT_WORK_HERE="false")
            server = await stack.enter_async_context(serve(WIREWRIGHT, settings))
            for _ in range(workers):
                await stack.enter_async_context(worker(settings, PLACES))
            await taken(server, WARM)
            before = counted(cluster, schema)
            begun = time.monotonic()
            await taken(server, TURNS)
            took = time.monotonic() - begun
            await asyncio.sleep(2)  # a backend that is idle says what it has counted
            commits, log, events, connections = (
                after - (before[at] if at < 3 else 0) for at, after in enumerate(counted(cluster, schema))
            )
    most, kilobytes = workers * PLACES / (2 * MODEL_SECONDS), log / TURNS / 1000
    return (
        f"| {workers} | {PLACES} | {TURNS / took:.1f} | {most:.0f} | {commits / TURNS:.0f} | {kilobytes:.0f} kB "
        f"| {events / TURNS:.1f} | {connections} |"
    )


async def taken(server: Served, turns: int) -> None:
    """Ask for turns of as many conversations at once, and wait for all."""
    await asyncio.gather(*(play(server.client, {"input_value": QUESTION}) for _ in range(turns)))


def counted(cluster: Cluster, schema: str) -> tuple[int, int, int, int]:
    """What Postgres has counted: commits, bytes of its log, rows of events, connections."""
    [row] = cluster.execute(STATISTICS.replace("turn_events", f"{schema}.turn_events"))
    return int(row[0]), int(row[1]), int(row[2]), int(row[3])


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def _main() -> None:
    with postgres() as cluster:
        if cluster is None:
            say("Postgres is not installed.")
            return
        say(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        say("| workers | places each | turns a second | at most | commits a turn | log a turn | rows | connections |")
        say("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for workers in WORKERS:
            say(await measured(cluster, workers))
        say(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    with checkout_environment():
        asyncio.run(_main())
