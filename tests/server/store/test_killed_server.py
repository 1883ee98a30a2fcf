"""A server that is killed at any moment while clients change things: what it has acknowledged is there."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from flows.document import JsonObject
from tests.server.live import FLOWS
from tests.server.test_serve import program, signed_in

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
CLIENTS = 4
LIVES = (1, 12, 45)
"""After how many acknowledged changes each server is killed."""


@asynccontextmanager
async def server(python: Path) -> AsyncGenerator[tuple[asyncio.subprocess.Process, httpx.AsyncClient]]:
    """A server as a process of its own, whose output is read."""
    async with program(python, "-m", "tests.server.hanging") as (process, base), signed_in(base, 60) as client:
        assert process.stdout is not None
        reading = asyncio.create_task(process.stdout.read())
        yield process, client
        reading.cancel()


async def test_no_acknowledged_change_is_lost_when_the_server_is_killed(python_command: Path) -> None:
    flows: dict[str, int] = {}
    variables: set[str] = set()

    async def change(client: httpx.AsyncClient, name: str, enough: asyncio.Event, count: int) -> None:
        number, before = 0, len(flows) + len(variables)
        while True:
            number += 1
            document: JsonObject = {"name": f"{name} {number}", "description": "x" * 2_000, "nodes": [], "edges": []}
            try:
                made = await client.post(FLOWS, json=document)
                flow = made.json()["id"]
                flows[flow] = 1
                again = await client.put(f"{FLOWS}/{flow}", json={"version": 1, "flow": document})
                flows[flow] = again.json()["version"]
                if (await client.put(f"/api/v1/variables/{name}_{number}", json={"value": "v"})).is_success:
                    variables.add(f"{name}_{number}")
            except httpx.HTTPError:
                return
            if len(flows) + len(variables) - before >= count:
                enough.set()

    for life, count in enumerate(LIVES):
        async with server(python_command) as (process, client):
            enough = asyncio.Event()
            changing = [
                asyncio.create_task(change(client, f"LIFE_{life}_{task}", enough, count)) for task in range(CLIENTS)
            ]
            async with asyncio.timeout(60):
                await enough.wait()
            process.kill()
            await process.wait()
            await asyncio.gather(*changing)
    assert len(flows) + len(variables) >= sum(LIVES)
    async with server(python_command) as (_, client):
        for flow, version in flows.items():
            found = await client.get(f"{FLOWS}/{flow}")
            assert found.status_code == 200
            assert found.json()["version"] in (version, version + 1), "a change may be stored and not acknowledged"
        listed = (await client.get("/api/v1/variables")).json()["variables"]
        assert variables <= {one["name"] for one in listed}
