"""Many clients follow turns at a server that does not take them: each gets every event once, however slow it is."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from sqlalchemy import event
from sqlalchemy.util import await_only

from agent.contract.endings import cancelled
from flows.catalogue import Catalogue
from runtime.database.database import Database
from runtime.files.folders import LOCAL_USER
from server.json_response import json_bytes
from server.settings import ServerSettings
from server.store.turn_rows import SqlTurns
from server.store.turns import SteadyClock
from server.streams.event_log import EventLog
from server.streams.event_writer import EventWriter
from tests.databases.postgres import Cluster
from tests.server.live import serving
from tests.server.streams.following import TURNS, some
from tests.server.streams.following import numbered as events_of
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio

FOLLOWERS = 120
SLOW_SECONDS = 0.35
"""How long each statement of the server takes: its 15 connections cannot serve each follower alone in time."""

TOKENS = 12


async def slow(*_: object) -> None:
    """A database that takes its time."""
    await asyncio.sleep(SLOW_SECONDS)


async def slowed(database: Database) -> None:
    """Let each statement of a database take its time."""
    engine = await database.open()
    event.listen(engine.sync_engine, "before_cursor_execute", lambda *given: await_only(slow(*given)))


@asynccontextmanager
async def written(url: str, data: Path) -> AsyncGenerator[list[EventLog]]:
    """Turns of a worker, whose events are stored as they are written, all of them by the end of the block."""
    database = Database(url, data)
    turns = SqlTurns(database, "worker", 3_600, SteadyClock(), durable=True)

    async def store() -> SqlTurns:
        await database.open()
        return turns

    async def ended(log: EventLog) -> None:
        log.settle()

    writer = EventWriter(store, ended)
    logs = [
        EventLog(LOCAL_USER, f"t{at}", "s", writer.wake, is_new=False, is_urgent=True, attempt=1)
        for at in range(FOLLOWERS)
    ]
    await store()
    for log in logs:
        assert await turns.reserve(LOCAL_USER, log.turn, "s", durable=True)
    yield logs
    await asyncio.gather(*(log.settled() for log in logs))
    await writer.aclose()
    await database.aclose()


def token(number: int) -> bytes:
    """An event of a turn."""
    return json.dumps({"event": "token", "chunk": f"{number} "}).encode()


async def test_each_of_many_followers_gets_every_event_once_and_in_order_though_the_database_is_slow(
    postgres: Cluster, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.schema()
    monkeypatch.setenv("WIREWRIGHT_DATABASE", url)
    monkeypatch.setenv("WIREWRIGHT_WORK_HERE", "false")
    settings = ServerSettings()
    here = assistant(catalogue, ScriptedModel())
    async with serving(here, settings) as live, written(url, settings.data) as logs:
        await slowed(here.database)
        client = httpx.AsyncClient(
            base_url=live.client.base_url, headers=live.client.headers, timeout=120, trust_env=False,
            limits=httpx.Limits(max_connections=None),
        )  # fmt: skip
        opened = asyncio.Semaphore(0)

        async def follow(log: EventLog) -> list[int]:
            async with client.stream("GET", f"{TURNS}/{log.turn}/events") as response:
                opened.release()
                assert response.status_code == 200, await response.aread()
                return [event["sequence"] for event in await some(events_of(response))]

        async with client:
            following = [asyncio.create_task(follow(log)) for log in logs]
            for _ in logs:
                await opened.acquire()
            for number in range(1, TOKENS + 1):
                for log in logs:
                    log.write(token(number))
                await asyncio.sleep(0.05)
            for log in logs:
                log.write(json_bytes(cancelled()), "cancelled")
            got = await asyncio.gather(*following)
    assert got == [list(range(1, TOKENS + 2))] * FOLLOWERS
