"""The engine itself, asked one command at a time, to be measured beside ours."""

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from runtime.install.environment import RunnerEnvironment

WORKER = Path(__file__).parent / "lfx_runner" / "worker.py"


class Engine:
    """A process in the runner's environment that runs and builds with `lfx` directly."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def do(self, **command: Any) -> float:
        """Do one thing; returns its milliseconds, measured over there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return float(json.loads(self._process.stdout.readline())["ms"])

    async def ask(self, **command: Any) -> float:
        """The same while this loop goes on, for what needs an answer from here."""
        return await asyncio.to_thread(self.do, **command)


@contextmanager
def engine(environment: RunnerEnvironment) -> Generator[Engine]:
    """Start the engine's process and end it afterwards."""
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [str(environment.python), str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "DO_NOT_TRACK": "1"},
        )
        try:
            yield Engine(process)
        finally:
            process.terminate()
            process.wait(10)


def line(name: str, ours: list[float], theirs: list[float], target: str) -> str:
    """One comparison: medians in milliseconds and their ratio."""
    mine, other = median(ours), median(theirs)
    return f"{name:<58} ours {mine:8.2f} ms   lfx {other:8.2f} ms   ratio {mine / other:5.2f}   ({target})"
