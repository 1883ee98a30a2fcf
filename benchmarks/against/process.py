"""Processes of a side: its worker, which is asked line by line, and commands that run once."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.against.side import Side

WORKER = Path(__file__).with_name("worker.py")
TAIL = 600
"""Characters of a failed process's last words that are reported."""


class ProcessFailed(Exception):
    """A process of a side failed; the message is what it said last."""


class Worker:
    """A process in a side's interpreter that measures there what its Python face does."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self._log = log

    async def ask(self, do: str, **arguments: Any) -> float:
        """Let it do something.

        Returns:
            The milliseconds that it took over there.

        Raises:
            ProcessFailed: it could not, or it is dead.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            pass  # it is dead, which the end of its output says too
        line = await self._process.stdout.readline()
        if not line:
            code = await self._process.wait()
            raise ProcessFailed(f"the worker ended with code {code}: {last_words(self._log.read_bytes())}")
        answer = json.loads(line)
        if "error" in answer:
            raise ProcessFailed(answer["error"])
        return float(answer["ms"])


@asynccontextmanager
async def worker(side: Side) -> AsyncGenerator[Worker]:
    """Start a side's worker and end it afterwards."""
    with side.environment() as environment:
        folder = Path(environment["WIREWRIGHT_DATA"])
        log = folder / "worker.log"
        with log.open("wb") as said:
            process = await asyncio.create_subprocess_exec(
                *(str(side.python), "-P", str(WORKER)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=said,
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
            printed, said = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    if process.returncode:
        raise ProcessFailed(f"{Path(command[0]).name} ended with code {process.returncode}: {last_words(said)}")
    return printed.decode()


def last_words(said: bytes) -> str:
    """The end of what a process wrote on standard error, on one line."""
    return " ".join(said.decode(errors="replace").split())[-TAIL:]
