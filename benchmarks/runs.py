"""Warm runs in confined children: beside the engine's own process, and two at a time beside one after another."""

import asyncio
import os
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from benchmarks.engine import Engine, line
from benchmarks.specs import ECHO, chain
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from runtime.runner import Runner

ROUNDS = 60
SERVER = 7878
PARALLEL_ROUNDS = 7
BATCH = 12


async def measure(runner: Runner, catalogue: Catalogue, lfx: Engine) -> list[str]:
    """Run by turns and compare the medians; ours is measured from call to result."""
    echo, long = _built(ECHO, catalogue), _built(chain(32), catalogue)
    lines = [await _beside("warm echo run, in a confined child and in process", runner, echo, lfx)]
    runner.closed_ports = (SERVER,)
    lines.append(await _beside("the same under a server, its port closed", runner, echo, lfx))
    runner.closed_ports = ()
    return [*lines, await _side_by_side("echo", runner, echo), await _side_by_side("of 32 nodes", runner, long)]


async def _beside(name: str, runner: Runner, flow: Flow, lfx: Engine) -> str:
    """Runs with a network, as a user's are, and the engine's own, by turns."""
    payload = flow.to_json()
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        started = perf_counter()
        result = await runner.run(flow, "hello")
        ours.append((perf_counter() - started) * 1000)
        assert result.output == "hello", result.error
        theirs.append(lfx.do(do="run", flow=payload, text="hello"))
    return line(name, ours[10:], theirs[10:], "target: at most 1.5")


async def _side_by_side(name: str, runner: Runner, flow: Flow) -> str:
    """Batches one run after another and two at a time, by turns; the speed-up is the median over the rounds."""
    alone: list[float] = []
    paired: list[float] = []
    spent = 0.0
    for _ in range(PARALLEL_ROUNDS):
        alone.append(await _batch(runner, flow, 1))
        before = _processor(runner)
        paired.append(await _batch(runner, flow, 2))
        spent += (_processor(runner) - before) / BATCH / PARALLEL_ROUNDS
    gain = median(one / two for one, two in zip(alone[1:], paired[1:], strict=True))
    return (
        f"{f'runs {name}, two at a time and one after another':<58} two {median(paired[1:]):8.2f} ms   "
        f"one {median(alone[1:]):8.2f} ms   speed-up {gain:5.2f}   "
        f"processor {spent:6.1f} ms a run   (target: a speed-up of at least 1.6 on two free cores)"
    )


async def _batch(runner: Runner, flow: Flow, at_once: int) -> float:
    """Milliseconds a run takes when so many are under way at once."""

    async def some(count: int) -> None:
        for _ in range(count):
            result = await runner.run(flow, "hello")
            assert result.error is None, result.error

    started = perf_counter()
    await asyncio.gather(*(some(BATCH // at_once) for _ in range(at_once)))
    return (perf_counter() - started) * 1000 / BATCH


def _processor(runner: Runner) -> float:
    """Milliseconds of processor time so far: this process, the engine, and its runs that are over. Linux only."""
    stat = Path(f"/proc/{runner.engine_pid}/stat")
    if not stat.exists():
        return float("nan")
    ticks = [int(word) for word in stat.read_text().rpartition(")")[2].split()[11:15]]
    return process_time() * 1000 + sum(ticks) * 1000 / os.sysconf("SC_CLK_TCK")


def _built(text: str, catalogue: Catalogue) -> Flow:
    flow = build(text, catalogue).flow
    assert flow is not None
    return flow
