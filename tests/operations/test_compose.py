"""What `compose.yaml` starts, as processes of this machine with a Postgres of the test's: a server and two workers."""

import asyncio
import os
import re
import signal
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import yaml

from tests.databases.postgres import Cluster
from tests.databases.stored import query

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[2]
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docs/operations/compose.yaml").read_text())["services"]
COMMAND = "import sys; from cli.main import main; sys.argv[0] = 'wirewright'; main()"
SECONDS = 120


@asynccontextmanager
async def started(
    python: Path, arguments: list[str], settings: Mapping[str, str]
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A service's command, with its environment."""
    process = await asyncio.create_subprocess_exec(
        *(python, "-c", COMMAND, *arguments),
        cwd=ROOT, env={**os.environ, **settings}, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def workers(address: str) -> set[str]:
    """How many workers a server knows of; nothing while it does not answer."""
    async with httpx.AsyncClient(trust_env=False) as client:
        try:
            text = (await client.get(f"{address}/metrics")).raise_for_status().text
        except httpx.TransportError:
            return set()
    return {line for line in text.splitlines() if line.startswith("wirewright_workers{")}


def free_port() -> str:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


async def test_a_server_and_two_workers_find_each_other_and_stop_when_they_are_asked_to(
    postgres: Cluster, tmp_path: Path, python_command: Path
) -> None:
    metrics = free_port()
    here = {
        "WIREWRIGHT_DATABASE": postgres.schema(),
        "WIREWRIGHT_DATA": str(tmp_path / "data"),
        "WIREWRIGHT_HOST": "127.0.0.1",
        "WIREWRIGHT_METRICS_HOST": "127.0.0.1",
        "PORT": free_port(),
    }
    given = {"WIREWRIGHT_SECRET_KEY": "k" * 32, "WIREWRIGHT_NAMES": "flows.example.org", "POSTGRES_PASSWORD": "p"}

    def environment(service: str) -> dict[str, str]:
        found = {
            name: re.sub(r"\$\{(\w+):[?-][^}]*\}", lambda named: given.get(named[1], ""), str(value))
            for name, value in SERVICES[service]["environment"].items()
        } | here
        return found | ({"WIREWRIGHT_METRICS_PORT": metrics} if found["WIREWRIGHT_METRICS_PORT"] else {})

    assert environment("worker")["WIREWRIGHT_SECRET_KEY"] == given["WIREWRIGHT_SECRET_KEY"]
    async with AsyncExitStack() as stack:
        users = started(python_command, ["users", "add", "ada@example.org"], environment("wirewright"))
        assert await (await stack.enter_async_context(users)).wait() == 0
        processes = [
            await stack.enter_async_context(started(python_command, each["command"], environment(name)))
            for name, each in SERVICES.items()
            if name in {"wirewright", "worker"}
            for _ in range(each.get("scale", 1))
        ]
        assert len(processes) == 3
        served = {f'wirewright_workers{{queue="{queue}"}} 2.0' for queue in ("turns", "runs", "evals")}
        with anyio.fail_after(SECONDS):
            while await workers(f"http://127.0.0.1:{metrics}") != served:
                assert [process.returncode for process in processes] == [None] * 3
                await asyncio.sleep(0.1)
        names = query(here["WIREWRIGHT_DATABASE"], "select count(*) from servers where queues <> ''")
        assert names == [(2,)]
        for process in processes:
            process.send_signal(signal.SIGTERM)
        with anyio.fail_after(SECONDS):
            assert [await process.wait() for process in processes] == [0, 0, 0]
