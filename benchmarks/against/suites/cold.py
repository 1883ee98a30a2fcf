"""A server from its start to the first answered question."""

from time import perf_counter

from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite
from benchmarks.against.suites.imports import opened
from benchmarks.client import play
from benchmarks.script import QUESTION
from benchmarks.serving import serve


async def first_answer(side: Side) -> float:
    """Milliseconds until a question has its answer, while the engine may still be starting."""
    with side.environment() as environment:
        started = perf_counter()
        async with serve(side.wirewright, environment) as server:
            await play(server.client, {"input_value": QUESTION})
            return (perf_counter() - started) * 1000


METRIC = Metric(name="first-answer", unit="ms", measure=first_answer, rounds=8, warm=0, target=1_500, original=25_000)
SUITE = Suite(open=opened, metrics=(METRIC,))
