"""Starts: `make run` of a fresh clone on a machine that has nothing yet, and a warm server beside a bare import."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import httpx

from benchmarks.client import play
from benchmarks.serving import healthy, serve
from scripts.checkout import ROOT, checkout_environment

QUESTION = {"input_value": "What can you do?"}
ROUNDS = 7
FIRST_SECONDS = 1_200
"""Seconds that a first start may take."""
TOKEN = secrets.token_urlsafe(32)
TARGET = 1.5
"""What a warm start to the first answer may take at most, as a multiple of the bare import."""
FOREIGN = ("WIREWRIGHT_", "UV_", "VIRTUAL_ENV", "PYTHON", "PORT", "MAKE", "MFLAGS")
MODEL_KEYS = ("_API_KEY", "_BASE_URL")


@dataclass(frozen=True, kw_only=True)
class FirstStart:
    """Seconds from `make run` to what a newcomer waits for."""

    first_line: float
    serves: float
    answered: float
    page: float
    engine_ready: float

    def __str__(self) -> str:
        """All in one line."""
        return (
            f"the first start (make run in a fresh clone; empty home and cache, packages from uv's warm cache): first "
            f"line after {self.first_line:.1f} s, 'serves at' after {self.serves:.1f} s, a question answered after "
            f"{self.answered:.1f} s, the page built after {self.page:.1f} s, "
            f"the engine ready after {self.engine_ready:.1f} s"
        )


async def measure() -> AsyncGenerator[str]:
    """Measure both, a line each; the warm ones alternate with the bare import."""
    yield str(await first_start())
    yield await warm_start()


async def first_start() -> FirstStart:
    """Clone this checkout's commit into an empty folder and run `make run` there.

    Raises:
        RuntimeError: it ended before it served, or printed no address.
        TimeoutError: it took too long.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        clone = Path(folder) / "clone"
        await asyncio.to_thread(subprocess.run, ["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        async with asyncio.timeout(FIRST_SECONDS), _made(clone, newcomer(Path(folder))) as (process, began):
            first, url = await _address(process, began)
            serves = perf_counter() - began
            rest = asyncio.create_task(_drained(process))
            headers = {"Authorization": f"Bearer {TOKEN}"}
            async with httpx.AsyncClient(
                base_url=url, timeout=FIRST_SECONDS, trust_env=False, headers=headers
            ) as client:
                await play(client, QUESTION)
                answered = perf_counter() - began
                page, ready = await asyncio.gather(
                    _page_is_built(client, began),
                    _is_ready(client, began),
                )
            rest.cancel()
            await asyncio.wait((rest,))
        return FirstStart(first_line=first, serves=serves, answered=answered, page=page, engine_ready=ready)


def newcomer(folder: Path) -> dict[str, str]:
    """The environment of someone who has nothing but Python, make and the packages in uv's cache."""
    cache = subprocess.run([_uv(), "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(FOREIGN) and not name.endswith(MODEL_KEYS)
    }
    home = folder / "home"
    home.mkdir()
    return kept | {
        "HOME": str(home),
        "UV_CACHE_DIR": cache,
        "WIREWRIGHT_DATA": str(home / "data"),
        "WIREWRIGHT_CACHE": str(home / "cache"),
        "WIREWRIGHT_TOKEN": TOKEN,
        "PORT": "0",
    }


async def warm_start() -> str:
    """Start the server until a first question is answered, and alternately import PydanticAI alone."""
    python, command = (Path(sys.executable).with_name(name) for name in ("python", "wirewright"))
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {name: value for name, value in kept.items() if not name.endswith(MODEL_KEYS)}
    pairs: list[tuple[float, float]] = []
    for number in range(-1, ROUNDS):  # the first of each writes bytecode
        bare = await _bare_import(python, environment)
        answered = await _answered(command, environment)
        if number >= 0:
            pairs.append((answered, bare))
    ratios = [answered / bare for answered, bare in pairs]
    return (
        f"a warm start to the first answered question: {median(one for one, _ in pairs):.2f} s, a bare import of "
        f"pydantic_ai {median(one for _, one in pairs):.2f} s; ratio {median(ratios):.2f} (of {ROUNDS}: "
        f"{min(ratios):.2f} to {max(ratios):.2f}; target: at most {TARGET})"
    )


async def _bare_import(python: Path, environment: Mapping[str, str]) -> float:
    began = perf_counter()
    process = await asyncio.create_subprocess_exec(str(python), "-c", "import pydantic_ai", env=environment)
    assert await process.wait() == 0
    return perf_counter() - began


async def _answered(command: Path, environment: Mapping[str, str]) -> float:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as data:
        began = perf_counter()
        async with serve(command, {**environment, "WIREWRIGHT_DATA": data}) as server:
            await play(server.client, QUESTION)
            return perf_counter() - began


@asynccontextmanager
async def _made(
    clone: Path, environment: Mapping[str, str]
) -> AsyncGenerator[tuple[asyncio.subprocess.Process, float]]:
    """`make run` in a clone, and when it began; its whole process group is ended afterwards."""
    began = perf_counter()
    process = await asyncio.create_subprocess_exec(
        *("make", "run"),
        cwd=clone,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process, began
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        await _drained(process)
        await process.wait()


async def _address(process: asyncio.subprocess.Process, began: float) -> tuple[float, str]:
    """When the first line came, and the URL of the server."""
    assert process.stdout is not None
    first = 0.0
    printed: list[str] = []
    async for line in process.stdout:
        first = first or perf_counter() - began
        printed.append(line.decode(errors="replace"))
        if " serves at " in printed[-1]:
            return first, printed[-1].split()[-1]
    raise RuntimeError(f"make run ended without serving: {''.join(printed)[-600:]}")


async def _page_is_built(client: httpx.AsyncClient, began: float) -> float:
    """When the page itself stood at `/`."""
    while True:
        if 'id="root"' in (await client.get("/")).text:
            return perf_counter() - began
        await asyncio.sleep(0.2)


async def _is_ready(client: httpx.AsyncClient, began: float) -> float:
    """When flows could be run."""
    await healthy(client, "/readyz", seconds=FIRST_SECONDS)
    return perf_counter() - began


async def _drained(process: asyncio.subprocess.Process) -> None:
    """Read on, so that the process never waits for its output to be read."""
    assert process.stdout is not None
    while await process.stdout.read(65_536):
        pass


def _uv() -> str:
    import uv

    return uv.find_uv_bin()


async def main() -> None:
    """Print each line once it is measured."""
    async for line in measure():
        print(line, flush=True)


if __name__ == "__main__":
    with checkout_environment():
        asyncio.run(main())
