"""What a turn costs beside the bare PydanticAI loop, in processor time, which a busy machine hardly changes.

Both make the same requests to the same model of no latency. In process, they alternate in one process. Over HTTP, each
has a server of its own, which streams what happens, and both ask the same scripted provider; only the server's own
process counts, not the provider, the client or the flow engine.

Blocks of a few turns alternate, and each side goes first in every other pair, so that what else the machine does meets
both alike. The ratio is that of all blocks together, and none is left out.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from statistics import quantiles
from time import CLOCK_PROCESS_CPUTIME_ID, clock_gettime
from uuid import uuid4

import httpx
from pydantic_ai.models import Model

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded
from benchmarks.against.provider import provider
from benchmarks.against.side import SEED, Side
from benchmarks.client import play
from benchmarks.load.bare import BareLoop, ScriptedModel
from benchmarks.script import ANSWER, BUILD, DIRECT, QUESTION, classified
from benchmarks.serving import free_port, healthy, serve
from scripts.checkout import ROOT
from tools.workbench import FlowRunner
from wirewright import Catalogue

TURNS = 4
"""Turns of a block: few, so that both sides meet the same machine."""
ROUNDS = 60
WARM_UP = 5
TARGET = 1.3

Play = Callable[[], Awaitable[object]]
Pair = tuple[float, float]
"""Milliseconds a turn, ours and the bare loop's, in two blocks that follow each other."""


async def measure(side: Side, runner: FlowRunner, turns: int = TURNS, rounds: int = ROUNDS) -> list[str]:
    """Compare turns of ours with the bare loop, in process and over HTTP.

    Args:
        side: the checkout that serves.
        runner: runs what a turn builds, in process.
        turns: how many turns a block has.
        rounds: how many blocks there are of each.
    """
    catalogue = Catalogue.load()
    return [
        line("a question in process", await question(catalogue, runner, turns, rounds)),
        line("a verified build in process", await building(catalogue, runner, turns, rounds)),
        line("a question over HTTP", await over_http(side, turns, rounds)),
    ]


def line(name: str, pairs: list[Pair]) -> str:
    """Milliseconds a turn, ours and the bare loop's, their ratio, and the quartiles of the blocks' ratios."""
    ours, bare = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    low, _, high = quantiles((one / other for one, other in pairs), n=4)
    return (
        f"{name}: {ours:.1f} ms of processor time, the bare loop {bare:.1f} ms; ratio {ours / bare:.2f} "
        f"(of {len(pairs)} blocks: quartiles {low:.2f} and {high:.2f}; target: at most {TARGET})"
    )


def question_script() -> ScriptedModel:
    """The model of a question: a classification and an answer."""
    return ScriptedModel([ANSWER], classified("question"))


async def question(catalogue: Catalogue, runner: FlowRunner, turns: int, rounds: int) -> list[Pair]:
    """Questions, in process: milliseconds a turn, ours and the bare loop's."""
    return await in_process(question_script(), QUESTION, catalogue, runner, turns, rounds)


async def recorded_question(catalogue: Catalogue, runner: FlowRunner, model: Model) -> BareLoop:
    """The bare loop of a question, with a model of its own; the runner, which nothing runs on, may be a new one."""
    script = question_script()
    async with _assistant(script, catalogue, runner) as one, one.turn(TurnRequest(text=QUESTION)) as events:
        assert [event async for event in events]
    return BareLoop(script, catalogue, model=model)


async def building(catalogue: Catalogue, runner: FlowRunner, turns: int, rounds: int) -> list[Pair]:
    """Builds, in process; the bare loop's tool builds, checks and runs the flow as well."""
    return await in_process(ScriptedModel(DIRECT[1:], DIRECT[0]), BUILD, catalogue, runner, turns, rounds)


async def in_process(
    script: ScriptedModel, text: str, catalogue: Catalogue, runner: FlowRunner, turns: int, rounds: int
) -> list[Pair]:
    """Turns of an assistant, and alternately of the bare loop that makes its requests."""
    async with _assistant(script, catalogue, runner) as assistant:

        async def ours() -> None:
            request = TurnRequest(text=text, session=str(uuid4()))
            async with assistant.turn(request) as events:
                (result,) = [event.result async for event in events if isinstance(event, TurnEnded)]
            assert result.outcome == "complete", result

        await ours()
        bare = BareLoop(script, catalogue, runner)
        await _warm_up(ours, bare.turn)
        await assistant.usage_log.aclose()  # the first usage that is written opens the database
        gc.collect()
        gc.freeze()  # what is imported stays, as in a server
        try:
            return await _alternate(ours, bare.turn, rounds, turns)
        finally:
            gc.unfreeze()


@asynccontextmanager
async def _assistant(script: ScriptedModel, catalogue: Catalogue, runner: FlowRunner) -> AsyncGenerator[Assistant]:
    assistant = Assistant(AssistantSettings(), runner, catalogue=catalogue, model=script.model)
    try:
        yield assistant
    finally:
        await assistant.aclose()


async def _warm_up(*sides: Play) -> None:
    for _ in range(WARM_UP):
        for turn in sides:
            await turn()


async def _alternate(
    ours: Play,
    bare: Play,
    rounds: int,
    turns: int,
    clocks: tuple[int, int] = (CLOCK_PROCESS_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID),
) -> list[Pair]:
    """Play blocks of both, each first in every other pair; the clocks count the processor time of either."""
    pairs = list[Pair]()
    for number in range(rounds):
        if number % 2:
            theirs = await _block(bare, turns, clocks[1])
            pairs.append((await _block(ours, turns, clocks[0]), theirs))
        else:
            pairs.append((await _block(ours, turns, clocks[0]), await _block(bare, turns, clocks[1])))
    return pairs


async def _block(turn: Play, turns: int, clock: int) -> float:
    """Milliseconds of processor time that a turn takes."""
    started = clock_gettime(clock)
    for _ in range(turns):
        await turn()
    return (clock_gettime(clock) - started) * 1000 / turns


async def over_http(side: Side, turns: int, rounds: int) -> list[Pair]:
    """Questions over HTTP: milliseconds of the server's process a turn, ours and the bare loop's."""
    async with provider() as base, bare_server(f"{base}/theirs/v1") as (bare, bare_pid):
        with side.environment() as environment:
            models = {"OPENAI_BASE_URL": f"{base}/ours/v1"}
            async with serve(side.wirewright, {**environment, **models}) as server:
                await server.at_rest()

                async def ours() -> None:
                    await play(server.client, {"input_value": QUESTION, "session_id": str(uuid4())})

                async def theirs() -> None:
                    assert (await bare.post("/turn")).status_code == 200

                await _warm_up(ours, theirs)
                await server.at_rest()
                return await _alternate(ours, theirs, rounds, turns, (_clock_of(server.pid), _clock_of(bare_pid)))


def _clock_of(pid: int) -> int:
    """The clock of a process's processor time, as `clock_getcpuclockid` of Linux makes its number."""
    return (~pid << 3) | 2


@asynccontextmanager
async def bare_server(models: str) -> AsyncGenerator[tuple[httpx.AsyncClient, int]]:
    """Serve the bare loop; yields a client and the id of the process."""
    port = free_port()
    command = (sys.executable, "-m", "benchmarks.load.bare_server", str(port), models)
    environment = {**os.environ, "PYTHONHASHSEED": SEED}  # dictionaries and sets of the same order, as in ours
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environment)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            await healthy(client, "/", pause=0.02)
            yield client, process.pid
    finally:
        process.terminate()
        await process.wait()
