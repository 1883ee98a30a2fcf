"""The served assistant: its memory at rest, and turns over HTTP with a scripted model of no latency."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from uuid import uuid4

import httpx

from benchmarks.against.side import Side
from benchmarks.against.stage import Metric, Stage
from benchmarks.client import play
from benchmarks.script import BUILD, OFF_TOPIC, QUESTION
from benchmarks.serving import Served, descendants, memory_of, serve

PARALLEL = 32
PAUSE = 0.1
"""Seconds before a turn, so that what the one before prepares for the next is ready."""


@dataclass(frozen=True)
class Assistant:
    """A side's server at rest, and its scripted model's count of characters."""

    server: Served
    characters: str

    async def sent(self) -> int:
        """Characters of all request bodies that the model was sent so far."""
        async with httpx.AsyncClient() as client:
            return int((await client.get(self.characters)).text)

    async def turn(self, text: str) -> float:
        """A turn in a conversation of its own, in milliseconds."""
        await asyncio.sleep(PAUSE)
        return (await play(self.server.client, message(text)))[0]


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
    """The server's own process; both sides live, so that what they share is split alike."""
    return await asyncio.to_thread(memory_of, assistant.server.pid)


async def engine_memory(assistant: Assistant) -> float:
    """The processes below the server together."""
    return await asyncio.to_thread(memory_of, *descendants(assistant.server.pid))


async def build(assistant: Assistant) -> float:
    """A build turn of three requests, verified by a run."""
    return await assistant.turn(BUILD)


async def characters(assistant: Assistant) -> float:
    """What a build turn sends to the model."""
    before = await assistant.sent()
    await assistant.turn(BUILD)
    return await assistant.sent() - before


async def off_topic(assistant: Assistant) -> float:
    """A turn that is refused."""
    return await assistant.turn(OFF_TOPIC)


async def question(assistant: Assistant) -> float:
    """A turn that answers a question."""
    return await assistant.turn(QUESTION)


async def together(assistant: Assistant) -> float:
    """Build turns a second when many are under way at once, each of which must complete."""
    await asyncio.sleep(PAUSE)
    started = perf_counter()
    await asyncio.gather(*(play(assistant.server.client, message(BUILD)) for _ in range(PARALLEL)))
    return PARALLEL / (perf_counter() - started)


STAGE = Stage(
    open=at_rest,
    generations=2,
    metrics=(
        Metric(name="server-memory", unit="MB", measure=server_memory, rounds=2, warm=0),
        Metric(name="engine-memory", unit="MB", measure=engine_memory, rounds=2, warm=0),
        Metric(name="build-turn", unit="ms", measure=build, rounds=24, warm=3),
        Metric(name="build-turn-characters", unit="chars", measure=characters, rounds=2, warm=0, margin=0.0),
        Metric(name="off-topic-turn", unit="ms", measure=off_topic, rounds=24),
        Metric(name="question-turn", unit="ms", measure=question, rounds=24),
        Metric(name="turns-at-once", unit="/s", measure=together, rounds=8, warm=0, higher_is_better=True),
    ),
)
