"""Where durable turns are measured: a throwaway Postgres, a server and its workers."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from benchmarks.script import MODEL
from tests.databases.postgres import Cluster, binaries

WIREWRIGHT = Path(sys.executable).with_name("wirewright")


@contextmanager
def postgres() -> Generator[Cluster | None]:
    """A Postgres of its own; None where its programs are not installed."""
    programs = binaries()
    if programs is None:
        yield None
        return
    cluster = Cluster.make(programs)
    try:
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(cluster.folder, ignore_errors=True)


def environment(base_url: str, data: Path, **settings: str) -> dict[str, str]:
    """The environment of a server or worker with a data folder of its own, whose models are a provider's."""
    return {
        **os.environ,
        "WIREWRIGHT_DATA": str(data),
        "WIREWRIGHT_MODEL": MODEL,
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_BASE_URL": base_url,
        **settings,
    }


@asynccontextmanager
async def worker(settings: Mapping[str, str], places: int = 4) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A worker for turns, once it works."""
    process = await asyncio.create_subprocess_exec(
        *(str(WIREWRIGHT), "worker", "--queues", "turns", "--places", str(places), "--json"),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env=dict(settings),
    )  # fmt: skip
    assert process.stdout is not None
    await process.stdout.readline()
    draining = asyncio.create_task(process.stdout.read())
    try:
        yield process
    finally:
        process.terminate()
        await process.wait()
        await draining
