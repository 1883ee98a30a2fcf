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
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request

from benchmarks.client import play
from benchmarks.durable.places import WIREWRIGHT, environment, postgres, worker
from benchmarks.durable.workers import processor_seconds
from benchmarks.script import QUESTION, any_turn
from benchmarks.serving import Served, serve, work_of
from scripts.checkout import checkout_environment
from scripts.scripted_provider import Reply, ScriptedProvider
from tests.databases.postgres import Cluster

WORKERS: Final = (1, 2, 3)
PLACES: Final = 4
TURNS: Final = 60
WARM: Final = 6
"""Turns before those that count."""

MODEL_SECONDS: Final = 0.5
STATISTICS: Final = """
select pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
       (select sum(xact_commit + xact_rollback)::bigint from pg_stat_database),
       (select wal_bytes::bigint from pg_stat_wal),
       (select count(*) from turn_events),
       (select count(*) from pg_stat_activity where datname is not null)
"""
"""Transactions that have written, which alone get a number, and all; bytes of the log, rows of events, connections."""

HEAD: Final = (
    "workers", "places each", "turns a second", "at most", "writing commits a turn", "reads a turn", "log a turn",
    "rows", "connections", "processor a turn, in ms: workers", "server", "Postgres",
)  # fmt: skip


@dataclass(frozen=True)
class Counts:
    """What was counted up to a moment.

    Attributes:
        writing: transactions that have written.
        all: transactions.
        log: bytes of Postgres's log.
        events: rows of events.
        connections: how many there are.
        processor: seconds of a processor that were used: by workers, by the server, and by Postgres.
    """

    writing: int
    all: int
    log: int
    events: int
    connections: int
    processor: Sequence[float]


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
            working = [await stack.enter_async_context(worker(settings, PLACES)) for _ in range(workers)]
            pids = [[each.pid for each in working], [server.pid]]
            await taken(server, WARM)
            before = counted(cluster, schema, pids)
            begun = time.monotonic()
            await taken(server, TURNS)
            took = time.monotonic() - begun
            await asyncio.sleep(2)  # a backend that is idle says what it has counted
            after = counted(cluster, schema, pids)
    writing = after.writing - before.writing
    milliseconds = [1000 * (end - start) for start, end in zip(before.processor, after.processor, strict=True)]
    values = (
        f"{workers}", f"{PLACES}", f"{TURNS / took:.1f}", f"{workers * PLACES / (2 * MODEL_SECONDS):.0f}",
        *(f"{each / TURNS:.0f}" for each in (writing, after.all - before.all - writing)),
        f"{(after.log - before.log) / TURNS / 1000:.0f} kB", f"{(after.events - before.events) / TURNS:.1f}",
        f"{after.connections}", *(f"{each / TURNS:.0f}" for each in milliseconds),
    )  # fmt: skip
    return f"| {' | '.join(values)} |"


async def taken(server: Served, turns: int) -> None:
    """Ask for turns of as many conversations at once, and wait for all."""
    await asyncio.gather(*(play(server.client, {"input_value": QUESTION}) for _ in range(turns)))


def counted(cluster: Cluster, schema: str, pids: Sequence[Sequence[int]]) -> Counts:
    """What was counted up to now.

    Args:
        cluster: a Postgres.
        schema: has the events.
        pids: the processes of the workers, and of the server.
    """
    [row] = cluster.execute(STATISTICS.replace("turn_events", f"{schema}.turn_events"))
    first = int((cluster.data / "postmaster.pid").read_text().split()[0])
    of_postgres = sum(work_of(first).values()) / os.sysconf("SC_CLK_TCK")
    used = [*(sum(map(processor_seconds, some)) for some in pids), of_postgres]
    writing, every_one, log, events, connections = map(int, row)
    return Counts(writing, every_one, log, events, connections, used)


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
        say(f"| {' | '.join(HEAD)} |")
        say(f"| {' | '.join(['---'] * len(HEAD))} |")
        for workers in WORKERS:
            say(await measured(cluster, workers))
        say(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    with checkout_environment():
        asyncio.run(_main())
