"""Runs of a stored flow by a server's HTTP interface: how long they take, and the server's own processor time."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite
from benchmarks.serving import Served, serve
from benchmarks.specs import ECHO, built
from flows.catalogue import Catalogue

RUNS = 10
"""Runs of which a figure is the mean."""

SETTLED = 1.6
"""Seconds after which a server has stored what came of runs, and what they used."""

PAUSE = 0.02
"""Seconds between two runs, in which the engine prepares the next one."""


@dataclass(frozen=True)
class Stored:
    """A side's server, and where its echo flow is run."""

    server: Served
    place: str

    async def run(self) -> float:
        """Run the flow; returns the milliseconds from the request to the whole reply."""
        started = perf_counter()
        reply = await self.server.client.post(self.place, json={"input_value": "hello"})
        milliseconds = (perf_counter() - started) * 1_000
        assert reply.json()["output"] == "hello", reply.text
        return milliseconds


@asynccontextmanager
async def stored(side: Side) -> AsyncGenerator[Stored]:
    """Serve a side, and store the flow; begins once the server is at rest."""
    with side.environment() as environment:
        async with serve(side.wirewright, environment) as server:
            await server.at_rest()
            flow = built(ECHO, Catalogue.load()).to_json()
            entry = json.loads((await server.client.post("/api/v1/flows", json=flow)).text)
            yield Stored(server, f"/api/v1/flows/{entry['id']}/run")


async def duration(side: Stored) -> float:
    """The mean of several runs, one after the other."""
    found: list[float] = []
    for _ in range(RUNS):
        await asyncio.sleep(PAUSE)
        found.append(await side.run())
    return sum(found) / RUNS


async def processor(side: Stored) -> float:
    """What a run costs the server's own process, with all that it stores afterwards."""
    before = processor_time(side.server.pid)
    await duration(side)
    await asyncio.sleep(SETTLED)
    return (processor_time(side.server.pid) - before) / RUNS


def processor_time(pid: int) -> float:
    """The milliseconds for which the threads of a process have had a processor."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1_000_000


SUITE = Suite(
    open=stored,
    generations=2,
    metrics=(
        Metric(name="served-run", unit="ms", measure=duration, rounds=16),
        Metric(name="served-run-processor", unit="ms", measure=processor, rounds=12),
    ),
)
