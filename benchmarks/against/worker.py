"""Runs in a side's own interpreter and uses nothing but `wirewright`'s face: one command a line, as JSON.

Reads `{"do": …}` with the arguments of that work and answers `{"ms": …}` or `{"error": …}`. The milliseconds are of
processor time, except for runs, whose work is done in other processes.
"""

import asyncio
import gc
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from time import perf_counter, process_time
from typing import Any

from wirewright import Catalogue, Flow, Runner, build, check, scan

ECHO = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"


@cache
def catalogue() -> Catalogue:
    """The catalogue, loaded once."""
    return Catalogue.load()


def built(spec: str) -> Flow:
    """The flow of a spec that must build."""
    result = build(spec, catalogue())
    assert result.flow is not None, result.faults
    return result.flow


def load() -> float:
    """Load the catalogue."""
    return timed(Catalogue.load)


def build_spec(spec: str) -> float:
    """Build a flow of spec text, to JSON."""
    return timed(lambda: built(spec).to_json())


@cache
def document(spec: str) -> Any:
    """The JSON of a flow."""
    return built(spec).to_json()


def check_spec(spec: str) -> float:
    """Check a flow that was just read."""
    flow = Flow.from_json(document(spec))
    return timed(lambda: check(flow, catalogue()))


def search(queries: list[str]) -> float:
    """Search the catalogue; the time of one query."""
    catalogue().search("chat")
    return timed(lambda: [catalogue().search(query) for query in queries]) / len(queries)


def scan_types(specs: str) -> float:
    """Scan the sources of the components of a flow; the time of one source."""
    nodes = document(specs)["data"]["nodes"]
    sources = [node["data"]["node"]["template"]["code"]["value"] for node in nodes]
    return timed(lambda: [scan(source) for source in sources]) / len(sources)


def timed(work: Callable[[], object]) -> float:
    """The milliseconds of processor time that something takes, from a clean heap: it waits for nothing."""
    gc.collect()
    started = process_time()
    work()
    return (process_time() - started) * 1000


async def run(runner: Runner, runs: int, at_once: int) -> float:
    """Runs of an echo flow, so many at once; the time of one run."""
    flow = built(ECHO)

    async def some() -> None:
        for _ in range(runs // at_once):
            result = await runner.run(flow, "hello")
            assert result.output == "hello", result.error

    started = perf_counter()
    await asyncio.gather(*(some() for _ in range(at_once)))
    return (perf_counter() - started) * 1000 / runs


WORKS = {"load": load, "build": build_spec, "check": check_spec, "search": search, "scan": scan_types}


async def main() -> None:
    """Answer commands until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    runner: Runner | None = None
    while line := await asyncio.to_thread(sys.stdin.readline):
        command = json.loads(line)
        do, best_of = command.pop("do"), command.pop("best_of", 1)
        try:
            if do in WORKS:
                answer: dict[str, Any] = {"ms": min(WORKS[do](**command) for _ in range(best_of))}
            elif do == "run" and runner is not None:
                answer = {"ms": await run(runner, **command)}
            elif do == "start":
                runner = Runner()
                await runner.start()
                assert await runner.ready(120), runner.failure
                answer = {"ms": 0.0}
            else:
                answer = {"error": f"cannot do {do!r} now"}
        except Exception as error:  # noqa: BLE001 - whatever a side cannot do is reported as that
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
    if runner is not None:
        await runner.aclose()


if __name__ == "__main__":
    asyncio.run(main())
