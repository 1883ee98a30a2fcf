"""A verified build over HTTP beyond the run that verifies it, both of the same side."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.against.process import Worker
from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite
from benchmarks.against.suites.runs import warm
from benchmarks.against.suites.served import Assistant, at_rest, turn
from benchmarks.script import BUILD


@dataclass(frozen=True)
class Both:
    """A side's server, and its runner in a worker."""

    assistant: Assistant
    worker: Worker


@asynccontextmanager
async def opened(side: Side) -> AsyncGenerator[Both]:
    """Both at rest."""
    async with at_rest(side) as assistant, warm(side) as working:
        yield Both(assistant, working)


async def beyond_run(both: Both) -> float:
    """The milliseconds of a build turn without those of a run of its flow; at least one, however uneven the machine."""
    whole = await turn(BUILD)(both.assistant)
    return max(1.0, whole - await both.worker.ask("run", runs=1, at_once=1))


SUITE = Suite(
    open=opened,
    generations=2,
    metrics=(Metric(name="build-beyond-run", unit="ms", measure=beyond_run, rounds=24, warm=3, target=25),),
)
