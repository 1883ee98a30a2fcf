"""What grows with turns: the memory and the files of one server over thousands of turns in many conversations."""

import asyncio
import os
import secrets
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import httpx

from benchmarks.serving import free_port, healthy
from benchmarks.specs import ECHO, built
from flows.catalogue import Catalogue
from scripts.checkout import checkout_environment

TURNS = 2_000
WARM = 800
"""Turns before the first look: all caches are full, and the lasting conversations at their limit of ten turns."""

LASTING = 30
"""Conversations that go on; every second turn is in a new one, so that there are far more than are kept."""

AT_ONCE = 4


async def measure() -> list[str]:
    """Play turns over HTTP, and compare what the server holds after the warm-up with what it holds at the end.

    Some 1.4 memory blocks a turn are new short strings (ids, mostly) that pydantic-core keeps while it parses JSON, at
    most 16,384 of them: that ends after 12,000 turns or so.
    """
    with tempfile.TemporaryDirectory() as data:
        port, token = free_port(), secrets.token_urlsafe(32)
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.growing", str(port)),
            env={**os.environ, "WIREWRIGHT_DATA": data, "WIREWRIGHT_MEMORY": "file", "WIREWRIGHT_TOKEN": token},
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            url, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {token}"}
            async with httpx.AsyncClient(base_url=url, timeout=120, headers=headers) as client:
                await healthy(client, "/healthz")
                flow = built(ECHO, Catalogue.load()).to_json()
                stored = (await client.post("/api/v1/flows", json=flow)).json()["id"]
                started = perf_counter()
                await _play(client, stored, 0, WARM)
                before, files = (await client.get("/memory")).json(), sizes(Path(data))
                await _play(client, stored, WARM, TURNS)
                after, files_after = (await client.get("/memory")).json(), sizes(Path(data))
                seconds = perf_counter() - started
        finally:
            server.terminate()
            await server.wait()
    grown = (after["blocks"] - before["blocks"]) / (TURNS - WARM)
    kept = "; ".join(
        f"{name} {files.get(name, 0) / 1024:.0f} to {size / 1024:.0f} KB" for name, size in files_after.items()
    )
    turns = (
        f"{TURNS:,} turns over HTTP in {LASTING + TURNS // 2:,} conversations ({seconds:.0f} s), from turn {WARM} on: "
        f"resident {before['resident_kb'] / 1024:.1f} to {after['resident_kb'] / 1024:.1f} MB, Python's memory blocks "
        f"{before['blocks']:,} to {after['blocks']:,} ({grown:+.2f} a turn), objects {before['objects']:,} to "
        f"{after['objects']:,}, tasks {before['tasks']} to {after['tasks']}"
    )
    return [turns, f"its files over the same turns: {kept}"]


def sizes(folder: Path) -> dict[str, int]:
    """The bytes of the files in a folder, by name."""
    return {path.name: path.stat().st_size for path in sorted(folder.rglob("*")) if path.is_file()}


async def _play(client: httpx.AsyncClient, stored: str, first: int, last: int) -> None:
    """Play a range of turns, a few at the same time."""
    numbers = iter(range(first, last))

    async def work() -> None:
        for number in numbers:
            await _turn(client, stored, number)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


async def _turn(client: httpx.AsyncClient, stored: str, number: int) -> None:
    session = f"lasting-{number // 2 % LASTING}" if number % 2 == 0 else f"once-{number}"
    message = {"session_id": session, "flow_id": stored}
    match number % 5:
        case 0:
            message = {"session_id": session, "input_value": "Build an echo flow"}
        case 1:
            message["input_value"] = "What does my flow do?"
        case _:
            message["input_value"] = f"Switch clean data {'on' if number % 4 < 2 else 'off'}"
    reply = await client.post("/api/v1/agentic/assist", json=message)
    assert reply.status_code == 200, reply.text


if __name__ == "__main__":
    with checkout_environment():
        print(*asyncio.run(measure()), sep="\n")
