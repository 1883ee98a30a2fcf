"""Importing the Python face: all of its names, and only those that flows need."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from benchmarks.against.process import output_of
from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite

EVERY = (
    "Assistant",
    "AssistantSettings",
    "Catalogue",
    "Flow",
    "Runner",
    "TurnRequest",
    "TurnResult",
    "Violation",
    "build",
    "check",
    "scan",
    "to_spec",
)


@asynccontextmanager
async def opened(side: Side) -> AsyncGenerator[Side]:
    """A side as it is: each import starts a process of its own."""
    yield side


def importing(*names: str) -> Callable[[Side], Awaitable[float]]:
    """Measures the milliseconds of processor time that a fresh interpreter takes to import names of the face."""
    code = (
        "from time import process_time; began = process_time(); "
        f"from wirewright import {', '.join(names)}; print((process_time() - began) * 1000)"
    )

    async def measure(side: Side) -> float:
        return float(await output_of(side, str(side.python), "-P", "-c", code))

    return measure


SUITE = Suite(
    open=opened,
    metrics=(
        Metric(name="import-face", unit="ms cpu", measure=importing(*EVERY), rounds=8),
        Metric(name="import-build", unit="ms cpu", measure=importing("build"), rounds=12, target=150),
    ),
)
