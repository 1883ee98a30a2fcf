"""What a turn costs beside the bare PydanticAI loop, in processor time, which a busy machine hardly changes.

Both make the same requests to the same model of no latency. In process, they alternate in one process. Over HTTP, each
has a server of its own, which streams what happens, and both ask the same scripted provider; only the server's own
process counts, not the provider, the client or the flow engine.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from time import process_time
from uuid import uuid4

import httpx
from pydantic_ai.models import Model

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded
from benchmarks.against.provider import provider
from benchmarks.against.side import Side
from benchmarks.client import play
from benchmarks.load.bare import BareLoop, ScriptedModel
from benchmarks.script import ANSWER, BUILD, DIRECT, QUESTION, classified
from benchmarks.serving import free_port, healthy, serve
from scripts.checkout import ROOT
from tools.workbench import FlowRunner
from wirewright import Catalogue

TURNS = 40
"""Turns of which a figure is the mean."""
ROUNDS = 6
TARGET = 1.3

Play = Callable[[], Awaitable[object]]


async def measure(side: Side, runner: FlowRunner, turns: int = TURNS, rounds: int = ROUNDS) -> list[str]:
    """Compare turns of ours with the bare loop, in process and over HTTP.

    Args:
        side: the checkout that serves.
        runner: runs what a turn builds, in process.
        turns: how many turns a figure is the mean of.
        rounds: how many figures there are of each.
    """
    catalogue = Catalogue.load()
    return [
        line("a question in process", await question(catalogue, runner, turns, rounds)),
        line("a verified build in process", await building(catalogue, runner, turns, rounds)),
        line("a question over HTTP", await over_http(side, turns, rounds)),
    ]


def line(name: str, pairs: list[tuple[float, float]]) -> str:
    """Milliseconds a turn, ours and the bare loop's, and the median of their ratios."""
    ratios = [ours / bare for ours, bare in pairs]
    return (
        f"{name}: {median(ours for ours, _ in pairs):.1f} ms of processor time, the bare loop "
        f"{median(bare for _, bare in pairs):.1f} ms; ratio {median(ratios):.2f} (of {len(pairs)}: "
        f"{min(ratios):.2f} to {max(ratios):.2f}; target: at most {TARGET})"
    )


def question_script() -> ScriptedModel:
    """The model of a question: a classification and an answer."""
    return ScriptedModel([ANSWER], classified("question"))


async def question(catalogue: Catalogue, runner: FlowRunner, turns: int, rounds: int) -> list[tuple[float, float]]:
    """Questions, in process: milliseconds a turn, ours and the bare loop's."""
    return await in_process(question_script(), QUESTION, catalogue, runner, turns, rounds)


async def recorded_question(catalogue: Catalogue, runner: FlowRunner, model: Model) -> BareLoop:
    """The bare loop of a question, with a model of its own; the runner, which nothing runs on, may be a new one."""
    script = question_script()
    async with _assistant(script, catalogue, runner) as one, one.turn(TurnRequest(text=QUESTION)) as events:
        assert [event async for event in events]
    return BareLoop(script, catalogue, model=model)


async def building(catalogue: Catalogue, runner: FlowRunner, turns: int, rounds: int) -> list[tuple[float, float]]:
    """Builds, in process; the bare loop's tool builds, checks and runs the flow as well."""
    return await in_process(ScriptedModel(DIRECT[1:], DIRECT[0]), BUILD, catalogue, runner, turns, rounds)


async def in_process(
    script: ScriptedModel, text: str, catalogue: Catalogue, runner: FlowRunner, turns: int, rounds: int
) -> list[tuple[float, float]]:
    """Turns of an assistant, and alternately of the bare loop that makes its requests."""
    async with _assistant(script, catalogue, runner) as assistant:

        async def ours() -> None:
            request = TurnRequest(text=text, session=str(uuid4()))
            async with assistant.turn(request) as events:
                (result,) = [event.result async for event in events if isinstance(event, TurnEnded)]
            assert result.outcome == "complete", result

        await ours()
        bare = BareLoop(script, catalogue, runner)
        await bare.turn()
        gc.collect()
        gc.freeze()  # what is imported stays, as in a server
        try:
            return [(await _each(ours, turns), await _each(bare.turn, turns)) for _ in range(rounds)]
        finally:
            gc.unfreeze()


@asynccontextmanager
async def _assistant(script: ScriptedModel, catalogue: Catalogue, runner: FlowRunner) -> AsyncGenerator[Assistant]:
    assistant = Assistant(AssistantSettings(), runner, catalogue=catalogue, model=script.model)
    try:
        yield assistant
    finally:
        await assistant.aclose()


async def _each(turn: Play, turns: int) -> float:
    """Milliseconds of this process that a turn takes, what it leaves to be done soon included."""
    gc.collect()
    started = process_time()
    for _ in range(turns):
        await turn()
    return (process_time() - started) * 1000 / turns


async def over_http(side: Side, turns: int, rounds: int) -> list[tuple[float, float]]:
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

                for warm in (ours, theirs):
                    await warm()
                return [
                    (await _of_server(ours, turns, server.pid), await _of_server(theirs, turns, bare_pid))
                    for _ in range(rounds)
                ]


async def _of_server(turn: Play, turns: int, pid: int) -> float:
    """Milliseconds of a server's process that a turn takes."""
    before = _ticks(pid)
    for _ in range(turns):
        await turn()
    return (_ticks(pid) - before) * 1000 / os.sysconf("SC_CLK_TCK") / turns


def _ticks(pid: int) -> int:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return int(user) + int(system)


@asynccontextmanager
async def bare_server(models: str) -> AsyncGenerator[tuple[httpx.AsyncClient, int]]:
    """Serve the bare loop; yields a client and the id of the process."""
    port = free_port()
    command = (sys.executable, "-m", "benchmarks.load.bare_server", str(port), models)
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            await healthy(client, "/", pause=0.02)
            yield client, process.pid
    finally:
        process.terminate()
        await process.wait()
