"""The served assistant: its memory at rest, and turns over HTTP with a scripted model of no latency."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from uuid import uuid4

import httpx

from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite
from benchmarks.client import play
from benchmarks.script import BUILD, OFF_TOPIC, QUESTION
from benchmarks.serving import Served, descendants, memory_of, serve

PARALLEL = 32
PAUSE = 0.5
"""Seconds before a turn: the engine prepares the next run within them, so that neither side waits for it."""


@dataclass(frozen=True)
class Assistant:
    """A side's server at rest, and where its scripted model counts characters."""

    server: Served
    characters: str

    async def sent(self) -> int:
        """Characters of all request bodies that the model was sent so far."""
        async with httpx.AsyncClient() as client:
            return int((await client.get(self.characters)).text)


def message(text: str) -> dict[str, str]:
    """A request that begins a conversation."""
    return {"input_value": text, "session_id": str(uuid4())}


@asynccontextmanager
async def at_rest(side: Side) -> AsyncGenerator[Assistant]:
    """Serve a side's assistant; begins once it is at rest."""
    with side.environment() as environment:
        async with serve(side.wirewright, environment) as server:
            await server.at_rest()
            yield Assistant(server, f"{side.models.removesuffix('/v1')}/characters")


async def server_memory(assistant: Assistant) -> float:
    """The server's own process; all sides live, so that what they share is split alike."""
    return await asyncio.to_thread(memory_of, assistant.server.pid)


async def engine_memory(assistant: Assistant) -> float:
    """The processes below the server together."""
    return await asyncio.to_thread(memory_of, *descendants(assistant.server.pid))


def turn(text: str, *, first_event: bool = False) -> Callable[[Assistant], Awaitable[float]]:
    """Measures the milliseconds of a turn in a new conversation, or of its first event."""

    async def measure(assistant: Assistant) -> float:
        await asyncio.sleep(PAUSE)
        whole, first = await play(assistant.server.client, message(text))
        return first if first_event else whole

    return measure


async def characters(assistant: Assistant) -> float:
    """What a build turn sends to the model."""
    before = await assistant.sent()
    await play(assistant.server.client, message(BUILD))
    return await assistant.sent() - before


async def parallel(assistant: Assistant) -> float:
    """Build turns a second when many are under way at once, each of which must complete."""
    await asyncio.sleep(PAUSE)
    started = perf_counter()
    await asyncio.gather(*(play(assistant.server.client, message(BUILD)) for _ in range(PARALLEL)))
    return PARALLEL / (perf_counter() - started)


SUITE = Suite(
    open=at_rest,
    generations=2,
    metrics=(
        Metric(name="server-memory", unit="MB", measure=server_memory, rounds=2, warm=0, target=200, original=1_140),
        Metric(name="engine-memory", unit="MB", measure=engine_memory, rounds=2, warm=0, target=350),
        Metric(name="build-turn", unit="ms", measure=turn(BUILD), rounds=24, warm=3, original=465),
        Metric(name="first-event", unit="ms", measure=turn(BUILD, first_event=True), rounds=12),
        Metric(name="build-turn-characters", unit="chars", measure=characters, rounds=2, warm=0, margin=0.0),
        Metric(name="off-topic-turn", unit="ms", measure=turn(OFF_TOPIC), rounds=24, original=82),
        Metric(name="question-turn", unit="ms", measure=turn(QUESTION), rounds=24),
        Metric(
            name="turns-at-once",
            unit="/s",
            measure=parallel,
            rounds=8,
            warm=0,
            higher_is_better=True,
            target=15,
            original=1.5,
        ),
    ),
)
