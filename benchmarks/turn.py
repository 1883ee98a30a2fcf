"""Build turns over HTTP with a scripted model of no latency, beside the run that verifies what they build."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time

import httpx

from benchmarks.client import MESSAGE, play
from benchmarks.script import MODEL, direct_way
from benchmarks.serving import serve, settle
from flows.document import Flow
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from scripts.scripted_provider import ScriptedProvider

PAIRS = 42
"""Turns, each with a run; the machine changes its pace, so the two alternate."""
WARM = 2
"""Pairs at the start that do not count."""
PAUSE = 0.1
"""Seconds between a turn and a run, so that what each prepares for the next is ready."""


async def measure() -> str:
    """Play build turns against a served assistant, and alternately the run that verifies their flow."""
    provider = ScriptedProvider(direct_way)
    turns: list[float] = []
    runs: list[float] = []
    ours: list[float] = []
    async with provider.serve() as base_url, served(base_url) as client:
        flow = await built(client)
        async with running() as runner:
            for _ in range(PAIRS):
                before = process_time()
                turns.append((await play(client))[0])
                ours.append((process_time() - before) * 1000)
                runs.append(await verify(runner, flow))
    beyond = quantiles([turn - run for turn, run in zip(turns[WARM:], runs[WARM:], strict=True)], n=4)
    return (
        f"a build turn of three requests: {median(turns[WARM:]):.0f} ms, the run alone: {median(runs[WARM:]):.0f} ms; "
        f"{beyond[1]:.0f} ms beyond the run (quartiles {beyond[0]:.0f} and {beyond[2]:.0f}; target: at most 40), "
        f"{median(ours[WARM:]):.0f} of them in this process, which plays model and client"
    )


@asynccontextmanager
async def served(base_url: str) -> AsyncGenerator[httpx.AsyncClient]:
    """Serve the assistant with the models of a provider; yields a client of it once it is ready and at rest."""
    models = {"WIREWRIGHT_MODEL": MODEL, "OPENAI_API_KEY": "sk-scripted", "OPENAI_BASE_URL": base_url}
    async with serve(Path(sys.executable).with_name("wirewright"), {**os.environ, **models}) as server:
        await server.at_rest()
        yield server.client


@asynccontextmanager
async def running() -> AsyncGenerator[Runner]:
    """A runner of this process, ready and at rest."""
    async with Runner(RunnerEnvironment.locate()) as runner:
        assert await runner.ready()
        await asyncio.to_thread(settle, os.getpid())
        yield runner


async def built(client: httpx.AsyncClient) -> Flow:
    """The flow that a turn builds."""
    return Flow.from_json((await client.post("/api/v1/agentic/assist", json=MESSAGE)).json()["proposal"])


async def verify(runner: Runner, flow: Flow) -> float:
    """Run a flow the way a turn verifies it, between two pauses: the milliseconds of the run."""
    await asyncio.sleep(PAUSE)
    started = perf_counter()
    ran = await runner.run(flow, "hello", network="gateway-only")
    taken = (perf_counter() - started) * 1000
    assert ran.ok, ran.error
    await asyncio.sleep(PAUSE)
    return taken
