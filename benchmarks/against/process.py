"""Processes that are measured: workers, which do one command a line, and commands that run once."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.against.side import Side

WORKER = Path(__file__).with_name("worker.py")
TAIL = 600
"""Characters at the end of a failed process's standard error that are reported."""


class ProcessFailed(Exception):
    """A process failed; the message is the end of its standard error."""


class Worker:
    """A process that does one command a line and measures it."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self._log = log

    async def ask(self, do: str, **arguments: Any) -> float:
        """Let it do something.

        Returns:
            The milliseconds that it took there.

        Raises:
            ProcessFailed: it could not, or it has ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended, which the end of its output says too
            self._process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
            await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            code = await self._process.wait()
            raise ProcessFailed(f"the worker ended with code {code}: {stderr_tail(self._log.read_bytes())}")
        answer = json.loads(line)
        if "error" in answer:
            raise ProcessFailed(answer["error"])
        return float(answer["ms"])


def asking(do: str, **arguments: Any) -> Callable[[Worker], Awaitable[float]]:
    """Measures one command of a worker."""
    return lambda worker: worker.ask(do, **arguments)


@asynccontextmanager
async def started(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> AsyncGenerator[Worker]:
    """Start a worker in a folder, where its standard error is logged, and end it afterwards."""
    log = folder / "worker.log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env=environment,
        )
    assert process.stdin is not None
    ended = asyncio.create_task(process.wait())
    try:
        yield Worker(process, log)
    finally:
        process.stdin.close()
        await asyncio.wait((ended,), timeout=15)
        if not ended.done():
            process.kill()
        await ended


@asynccontextmanager
async def worker(side: Side) -> AsyncGenerator[Worker]:
    """A worker in a side's interpreter that measures what its Python face does."""
    with side.environment() as environment:
        command = [str(side.python), "-P", str(WORKER)]
        async with started(command, Path(environment["WIREWRIGHT_DATA"]), environment) as working:
            yield working


async def output_of(side: Side, *command: str) -> str:
    """What a command prints on standard output.

    Raises:
        ProcessFailed: it ends with another code than 0.
    """
    with side.environment() as environment:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=environment["WIREWRIGHT_DATA"],
            env=environment,
        )
        try:
            printed, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    if process.returncode:
        raise ProcessFailed(f"{Path(command[0]).name} ended with code {process.returncode}: {stderr_tail(errors)}")
    return printed.decode()


def stderr_tail(errors: bytes) -> str:
    """The end of what a process wrote on standard error, on one line."""
    return " ".join(errors.decode(errors="replace").split())[-TAIL:]
