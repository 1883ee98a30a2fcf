"""Servers and processes under measurement: serving, waiting until they are at rest, and their memory."""

import asyncio
import secrets
import socket
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import httpx

QUIET = 2.0
"""Seconds without work after which an engine is at rest: it goes on warming itself after one second without a run."""


@dataclass(frozen=True)
class Served:
    """A server under measurement: a client of it, and the id of its process."""

    client: httpx.AsyncClient
    pid: int

    async def at_rest(self) -> None:
        """Wait until it is ready to run flows and its engine has nothing left to do.

        Raises:
            TimeoutError: it never is.
        """
        await healthy(self.client, "/readyz")
        await asyncio.to_thread(settle, self.pid)


@asynccontextmanager
async def serve(executable: Path, environment: Mapping[str, str]) -> AsyncGenerator[Served]:
    """Serve the assistant as soon as it answers, and end it afterwards.

    Args:
        executable: the `wirewright` command.
        environment: what the server gets as its environment.

    Raises:
        RuntimeError: the server ended before it answered.
    """
    port, token = free_port(), secrets.token_urlsafe(32)
    server = await asyncio.create_subprocess_exec(
        *(str(executable), "serve", "--port", str(port)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env={**environment, "WIREWRIGHT_TOKEN": token},
    )
    ended = asyncio.create_task(server.wait())
    try:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120, headers=headers) as client:
            answers = asyncio.create_task(healthy(client, "/healthz", pause=0.01))
            await asyncio.wait((answers, ended), return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                answers.cancel()
                raise RuntimeError(f"the server ended with code {ended.result()} before it answered")
            await answers
            yield Served(client, server.pid)
    finally:
        if not ended.done():
            server.terminate()
            await asyncio.wait((ended,), timeout=15)
        if not ended.done():
            server.kill()
        await ended


async def healthy(client: httpx.AsyncClient, path: str, *, seconds: float = 300, pause: float = 0.05) -> None:
    """Ask a server that is starting until it answers 200, with a pause in seconds between the attempts.

    Raises:
        TimeoutError: it never does.
    """
    until = perf_counter() + seconds
    while perf_counter() < until:
        try:
            if (await client.get(path)).status_code == 200:
                return
        except httpx.TransportError:
            pass  # not listening yet
        await asyncio.sleep(pause)
    raise TimeoutError(f"{path} was never 200")


def settle(pid: int, seconds: float = 120) -> None:
    """Wait until the processes below one are at rest: the same ones, and none has worked for a while.

    Raises:
        TimeoutError: when they never are.
    """
    until = perf_counter() + seconds
    before, since = work_of(pid), perf_counter()
    while perf_counter() < until:
        time.sleep(0.1)
        if (now := work_of(pid)) != before:
            before, since = now, perf_counter()
        elif perf_counter() - since >= QUIET:
            return
    raise TimeoutError(f"The processes below {pid} were never at rest")


def work_of(pid: int) -> dict[int, int]:
    """The processor time, in clock ticks, of each process below one; a process that has just ended has none."""
    work: dict[int, int] = {}
    for child in descendants(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            user, system = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11:13]
            work[child] = int(user) + int(system)
    return work


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def memory_of(*pids: int) -> float:
    """Resident memory of processes together, in MB; a page that several share counts once among them (PSS)."""
    rollups = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids]
    return sum(int(line.split()[1]) for text in rollups for line in text.splitlines() if line.startswith("Pss:")) / 1024


def descendants(pid: int) -> list[int]:
    """The processes below a process; one that ends meanwhile has none below it."""
    try:
        children = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [each for child in children for each in (child, *descendants(child))]
