"""Many runs with kills in between: each call ends once and nothing is left over; `make soak-runs` makes many more."""

import asyncio
import contextlib
import os
import random
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from flows.document import Flow, JsonObject
from runtime.install.environment import RunnerEnvironment
from runtime.options import Network
from runtime.results import RunResult
from runtime.runner import Runner
from tests.runtime.unguarded import run_unguarded

MakeCode = Callable[[str], JsonObject]
pytestmark = [pytest.mark.anyio, pytest.mark.engine]
CALLS = int(os.environ.get("SOAK_RUNS", "40"))
"""How many runs; `make soak-runs` makes a thousand."""


@pytest.fixture(scope="module")
async def runner(runner_environment: RunnerEnvironment) -> AsyncIterator[Runner]:
    async with Runner(runner_environment) as made:
        assert await made.ready(180)
        yield made


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


async def settled(runner: Runner, echo: Flow, spares: int) -> list[int]:
    """The engine's children once what has ended is collected, which runs of their own bring about."""
    for _ in range(50):
        assert (await runner.run(echo, "x")).ok
        left = children(runner.engine_pid or 0)
        if len(left) <= spares + 1 and not any(map(is_zombie, left)):
            break
    return children(runner.engine_pid or 0)


async def test_every_call_ends_once_and_nothing_is_left_when_runs_and_engines_are_killed_at_random(
    runner: Runner, make_code: MakeCode, echo: Flow
) -> None:
    chance = random.Random(7)  # noqa: S311 - the same kills every time
    sleeping = make_code("time.sleep(600)")
    assert (await runner.run(echo, "x")).ok
    before = descriptors(os.getpid())
    ended: list[str] = []

    def kill(pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    async def call(number: int) -> None:
        network: Network = "open" if number % 2 else "gateway-only"
        match chance.randrange(6):
            case 0:  # its own process is killed
                result = await run_unguarded(runner, sleeping, timeout=60, on_started=kill)
                assert result.error is not None
                assert result.error.code == "crash"
            case 1:  # the caller leaves
                begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
                work = run_unguarded(runner, sleeping, timeout=60, on_started=begun.set_result)
                task: asyncio.Task[RunResult] = asyncio.create_task(work)
                await asyncio.wait([begun, task], return_when=asyncio.FIRST_COMPLETED)
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                ended.append("left")
                return
            case 2 if number % 5 == 0:  # the engine is killed
                if runner.engine_pid is not None:
                    kill(runner.engine_pid)
                result = await runner.run(echo, str(number), network=network)
            case _:
                result = await runner.run(echo, str(number), network=network)
        assert (result.error is None) != (result.output is None)
        assert result.error is None or result.error.code in {"crash", "limit"}
        ended.append(result.error.code if result.error is not None else "ok")

    for start in range(0, CALLS, 4):
        await asyncio.gather(*(call(number) for number in range(start, min(start + 4, CALLS))))
    assert len(ended) == CALLS
    assert ended.count("ok") > CALLS / 3
    left = await settled(runner, echo, spares=2)
    assert len(left) <= 3
    assert not any(map(is_zombie, left))
    assert descriptors(os.getpid()) <= before + 2  # pipes of an engine that is just being collected


async def test_the_engine_keeps_as_many_descriptors_after_many_runs_as_before(runner: Runner, echo: Flow) -> None:
    for _ in range(3):
        assert (await runner.run(echo, "x")).ok
    engine = runner.engine_pid
    assert engine is not None
    await settled(runner, echo, spares=2)
    before = descriptors(engine)
    for _ in range(20):
        assert (await runner.run(echo, "x", want_nodes=True, on_event=lambda _: None)).ok
    await settled(runner, echo, spares=2)
    assert runner.engine_pid == engine
    assert descriptors(engine) <= before + 7  # a run that is just being collected has that many
