"""The server at rest, with nothing but the demo: its own process, before and after its first turns."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite
from benchmarks.against.suites.served import Assistant, message, server_memory
from benchmarks.client import play
from benchmarks.script import BUILD, QUESTION
from benchmarks.serving import serve

MODELS = ("WIREWRIGHT_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL")


@asynccontextmanager
async def demo(side: Side) -> AsyncGenerator[Assistant]:
    """Serve a side's demo planner, which has no model; begins once it is at rest."""
    with side.environment() as environment:
        kept = {name: value for name, value in environment.items() if name not in MODELS}
        async with serve(side.wirewright, kept) as server:
            await server.at_rest()
            yield Assistant(server, "")


def memory_after(text: str) -> Callable[[Assistant], Awaitable[float]]:
    """Measures the server's own process when it has done a turn and is at rest again."""

    async def measure(assistant: Assistant) -> float:
        await play(assistant.server.client, message(text))
        await assistant.server.at_rest()
        return await server_memory(assistant)

    return measure


SUITE = Suite(
    open=demo,
    generations=2,
    metrics=(
        Metric(name="demo-memory", unit="MB", measure=server_memory, rounds=2, warm=0, target=115),
        Metric(name="demo-memory-after-question", unit="MB", measure=memory_after(QUESTION), rounds=2, warm=0),
        Metric(name="demo-memory-after-turn", unit="MB", measure=memory_after(BUILD), rounds=2, warm=0),
    ),
)
