"""Build turns over HTTP with a scripted model of no latency, over the OpenAI Chat wire: alone and side by side."""

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
from benchmarks.script import MODEL, direct_way, long_way
from benchmarks.serving import serve, settle
from flows.document import Flow
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from scripts.scripted_provider import ScriptedProvider

ROUNDS = 12
PAIRS = 42
"""Turns that are compared with a run each; the machine changes its pace, so the two take turns."""
PARALLEL = 32
PAUSE = 0.1
"""Seconds between a turn and a run, so that what each prepares for the next is ready."""


async def measure() -> list[str]:
    """Play build turns against a served assistant: one after the other, then many at once."""
    provider = ScriptedProvider(long_way)
    async with provider.serve() as base_url, served(base_url) as client:
        long, first = await _rounds(client)
        characters = provider.characters // ROUNDS
        provider.script = direct_way
        direct, run, beyond, ours = await _beyond(client)
        seconds, finished = await _side_by_side(client)
    alone = (
        f"one build turn over HTTP (6 requests, verified by a run): {long:.0f} ms, first event after {first:.1f} ms, "
        f"{characters:,} characters of request bodies; the original, unverified: 465 ms, 250,085 characters (ratios "
        f"{long / 465:.2f} and {characters / 250_085:.2f})"
    )
    extra = (
        f"the direct way (3 requests): {direct:.0f} ms, and by turns with it the run alone: {run:.0f} ms; "
        f"{beyond[1]:.0f} ms beyond the run (quartiles {beyond[0]:.0f} and {beyond[2]:.0f}; target: at most 40), "
        f"{ours:.0f} of them in this process, which plays model and client"
    )
    together = (
        f"{PARALLEL} such turns at once: {finished} finished in {seconds:.2f} s, {finished / seconds:.1f} a second "
        "(target: all, at 15 or more; the original finishes none)"
    )
    return [alone, extra, together]


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


async def _rounds(client: httpx.AsyncClient) -> tuple[float, float]:
    """Turns one after the other: the median of their times and of the first event's, in milliseconds."""
    taken = [await play(client) for _ in range(ROUNDS)]
    return median(total for total, _ in taken[2:]), median(first for _, first in taken[2:])


async def _beyond(client: httpx.AsyncClient) -> tuple[float, float, list[float], float]:
    """Turns, and by turns with them the run that verifies their flow, made from this process.

    Returns:
        The medians of turn and run, the quartiles of what a turn takes beyond the run that followed it, and the
        processor time that this process spends on a turn; all in milliseconds.
    """
    flow = await built(client)
    turns: list[float] = []
    runs: list[float] = []
    ours: list[float] = []
    async with running() as runner:
        for _ in range(PAIRS):
            before = process_time()
            turns.append((await play(client))[0])
            ours.append((process_time() - before) * 1000)
            runs.append(await verify(runner, flow))
    warm = slice(2, None)
    beyond = quantiles([turn - run for turn, run in zip(turns[warm], runs[warm], strict=True)], n=4)
    return median(turns[warm]), median(runs[warm]), beyond, median(ours[warm])


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


async def _side_by_side(client: httpx.AsyncClient) -> tuple[float, int]:
    """Many turns at once: the seconds until the last has ended, and how many were built."""
    started = perf_counter()
    replies = await asyncio.gather(*(client.post("/api/v1/agentic/assist", json=MESSAGE) for _ in range(PARALLEL)))
    seconds = perf_counter() - started
    return seconds, sum(reply.status_code == 200 and "proposal" in reply.json() for reply in replies)
