"""`lfx` itself in the runner's environment, measured beside ours."""

import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

from benchmarks.against.process import Worker, started
from runtime.install.environment import RunnerEnvironment

WORKER = Path(__file__).parent / "lfx_runner" / "worker.py"


@asynccontextmanager
async def engine(environment: RunnerEnvironment) -> AsyncGenerator[Worker]:
    """A process that runs and builds with `lfx` directly; it ends when the context is left."""
    with tempfile.TemporaryDirectory() as home:
        variables = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "DO_NOT_TRACK": "1"}
        async with started([str(environment.python), str(WORKER)], Path(home), variables) as worker:
            yield worker


def line(name: str, ours: list[float], theirs: list[float], target: str) -> str:
    """One comparison: medians in milliseconds and their ratio."""
    mine, other = median(ours), median(theirs)
    return f"{name:<58} ours {mine:8.2f} ms   lfx {other:8.2f} ms   ratio {mine / other:5.2f}   ({target})"
