"""Importing the Python face: all of its names, and only those that flows need."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from benchmarks.against.process import output_of
from benchmarks.against.side import Side
from benchmarks.against.stage import Metric, Stage

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


async def imported(side: Side, names: Sequence[str]) -> float:
    """The milliseconds of processor time that a fresh interpreter takes to import names of the face."""
    code = (
        "from time import process_time; began = process_time(); "
        f"from wirewright import {', '.join(names)}; print((process_time() - began) * 1000)"
    )
    return float(await output_of(side, str(side.python), "-P", "-c", code))


async def every_name(side: Side) -> float:
    """All names of the face."""
    return await imported(side, EVERY)


async def flows(side: Side) -> float:
    """Only what builds flows."""
    return await imported(side, ("build",))


STAGE = Stage(
    open=opened,
    metrics=(
        Metric(name="import-face", unit="ms cpu", measure=every_name, rounds=8),
        Metric(name="import-build", unit="ms cpu", measure=flows, rounds=12),
    ),
)
