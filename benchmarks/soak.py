"""`python -m benchmarks.soak [RUNS]`: many runs with random kills; counts how each ended and what was left over."""

import asyncio
import contextlib
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.serving import descendants, memory_of, settle
from benchmarks.specs import ECHO
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from runtime.install.environment import RunnerEnvironment
from runtime.options import Network
from runtime.runner import Runner

RUNS = 1_000
AT_ONCE = 4
KILLED, LEFT, ENGINE = 0.10, 0.10, 0.005
"""Shares of the runs whose process is killed, whose caller leaves, and during which the engine is killed."""
OPEN = 0.6
"""The share of the runs that have a network; the others are verification runs."""
SERVER = 7878
"""The port that is closed to runs that have a network."""
SPARES = 2
"""Runs that may happen at once, and processes that wait for them."""


class Soak:
    """Runs one flow again and again, and kills what it can get hold of."""

    def __init__(self, runner: Runner, flow: Flow, seed: int = 1) -> None:
        self._runner = runner
        self._flow = flow
        self._chance = random.Random(seed)  # noqa: S311 - the same kills every time
        self.ended: Counter[str] = Counter()

    async def call(self, number: int) -> None:
        """One call, which ends in exactly one way; anything else than a result is counted as `raised`."""
        dice = self._chance.random()
        network: Network = "open" if self._chance.random() < OPEN else "gateway-only"
        run = self._runner.run(self._flow, str(number), timeout=30, network=network, on_event=lambda _: None)
        work = asyncio.create_task(run)
        try:
            if dice < KILLED + LEFT + ENGINE:
                await asyncio.sleep(self._chance.random() * 0.03)
            if dice < KILLED:
                self._kill_a_run()
            elif dice < KILLED + LEFT:
                work.cancel()
            elif dice < KILLED + LEFT + ENGINE and self._runner.engine_pid is not None:
                os.kill(self._runner.engine_pid, signal.SIGKILL)
            result = await work
            right = result.output == str(number) if result.error is None else bool(result.error.message)
            self.ended[result.error.code if result.error is not None else "ok" if right else "wrong"] += 1
        except asyncio.CancelledError:
            self.ended["left"] += 1
        except Exception as error:  # noqa: BLE001 - what must never happen is counted
            self.ended[f"raised {type(error).__name__}"] += 1

    def _kill_a_run(self) -> None:
        engine = self._runner.engine_pid
        if engine is not None:
            with contextlib.suppress(OSError, IndexError):
                os.kill(self._chance.choice(descendants(engine)), signal.SIGKILL)


async def measure(runner: Runner, flow: Flow, runs: int) -> list[str]:
    """Run and kill; says how the calls ended, how long they took, and what is left afterwards."""
    for number in range(20):
        assert (await runner.run(flow, str(number))).ok
    await _settled(runner)
    before = _held(runner)
    soak, started = Soak(runner, flow), time.perf_counter()
    for start in range(0, runs, AT_ONCE):
        await asyncio.gather(*(soak.call(number) for number in range(start, min(runs, start + AT_ONCE))))
    seconds = time.perf_counter() - started
    for number in range(20):
        assert (await runner.run(flow, str(number))).ok
    await _settled(runner)
    after = _held(runner)
    ended = ", ".join(f"{count} {how}" for how, count in soak.ended.most_common())
    calls = f"{runs} runs of both networks, {AT_ONCE} at once, with random kills"
    return [
        f"{calls}: {sum(soak.ended.values())} endings in {seconds:.0f} s: {ended}",
        f"before: {before}",
        f"after:  {after}",
    ]


async def _settled(runner: Runner) -> None:
    """Wait up to ten seconds until what ended is collected: then the engine has its spare processes alone."""
    for _ in range(100):
        if len(descendants(runner.engine_pid or 0)) <= SPARES:
            return
        await asyncio.sleep(0.1)


def _held(runner: Runner) -> str:
    engine = runner.engine_pid or 0
    below = descendants(engine)
    dead = [pid for pid in below if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"]
    return (
        f"this process {memory_of(os.getpid()):.0f} MB, {_descriptors(os.getpid())} descriptors; engine "
        f"{memory_of(engine, *below):.0f} MB with its {len(below)} children, {_descriptors(engine)} descriptors, "
        f"{len(dead)} zombies"
    )


def _descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def main() -> None:
    """Install what is missing, run, print."""
    environment = RunnerEnvironment.locate()
    await environment.install(print)
    catalogue = Catalogue.load(environment.catalogue)
    flow = build(ECHO, catalogue).flow
    assert flow is not None
    async with Runner(environment, catalogue=catalogue, concurrency=SPARES) as runner:
        runner.closed_ports = (SERVER,)
        assert await runner.ready()
        await asyncio.to_thread(settle, os.getpid())
        for line in await measure(runner, flow, int(sys.argv[1]) if len(sys.argv) > 1 else RUNS):
            print(line)


if __name__ == "__main__":
    asyncio.run(main())
