"""Turns that are interrupted by a server that stops or is killed, and readers that stand still."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from flows.catalogue import Catalogue
from runtime.database.database import Database
from runtime.keychain.access_token import access_token
from server.settings import ServerSettings
from server.store.queued_turns import QueuedTurns
from server.store.turn_rows import SqlTurns
from server.store.turns import RUNNING, UNSTORED, NewEvents, SteadyClock
from tests.server.live import STREAM, event_of, serving
from tests.server.streams.following import TURNS, followed, numbered, some, started
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
BODY: dict[str, Any] = {"input_value": "What?", "resumable": True, "turn_id": "t"}


@asynccontextmanager
async def program(python: Path) -> AsyncGenerator[tuple[asyncio.subprocess.Process, httpx.AsyncClient]]:
    """A server of its own, whose model hangs, and a client of it."""
    process = await asyncio.create_subprocess_exec(
        *(python, "-m", "tests.server.streams.slow_turn"),
        cwd=ROOT, env={**os.environ, "PORT": "0"}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        with anyio.fail_after(60):
            address = (await process.stdout.readline()).decode().split()[-1]
        headers = {"Authorization": f"Bearer {access_token(ServerSettings().data)}"}
        async with httpx.AsyncClient(base_url=address, timeout=30, trust_env=False, headers=headers) as client:
            yield process, client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def in_store(turn: str, last: int) -> None:
    """Wait until the events of a turn are stored, as another process sees it."""
    settings = ServerSettings()
    database = Database(settings.database_url, settings.data)
    try:
        turns = QueuedTurns(database, SteadyClock(), 1)
        with anyio.fail_after(20):
            while not (await turns.news([("local", turn, last - 1)]))[0].lines:  # noqa: ASYNC110  (no event tells)
                await asyncio.sleep(0.05)
    finally:
        await database.aclose()


async def test_a_server_that_stops_ends_the_stored_events_too(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "Never said.", blocks_at=1)
    async with serving(assistant(catalogue, model)) as live:
        alone = await started(live.client, 1, input_value="What?", session_id="s", turn_id="alone")
        async with live.client.stream("POST", STREAM, json=BODY) as response:
            await model.blocked.wait()
            live.server.stop()
            seen = await some(numbered(response))
        await live.task
    async with serving(assistant(catalogue)) as live:
        assert await followed(live.client, "t") == seen
        left = await followed(live.client, "alone")
    assert left[: len(alone)] == alone
    for last in (seen[-1], left[-1]):
        assert (last["event"], last["reason"]) == ("cancelled", "interrupted")


async def test_a_server_that_is_killed_leaves_the_events_and_the_next_one_ends_them(
    catalogue: Catalogue, python_command: Path
) -> None:
    async with program(python_command) as (process, client), client.stream("POST", STREAM, json=BODY) as response:
        events = numbered(response)
        seen = [await anext(events)]
        await in_store("t", 1)
        process.send_signal(signal.SIGKILL)
        await process.wait()
    async with serving(assistant(catalogue)) as live:
        left = await followed(live.client, "t")
        assert left[: len(seen)] == seen
        assert [event["event"] for event in left].count("cancelled") == 1
        last = left[-1]
        assert (last["event"], last["reason"]) == ("cancelled", "interrupted")
        assert [event["sequence"] for event in left[:-1]] == list(range(1, len(left)))
        assert await followed(live.client, "t", after=len(left) - 1 + UNSTORED) == [last], "more was sent than stored"
        assert await followed(live.client, "t", after=last["sequence"]) == []
        assert (await live.client.post(f"{TURNS}/t/cancel")).json() == {"turn_id": "t", "status": "cancelled"}


async def test_a_turn_of_another_server_is_followed_through_the_database(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        settings = ServerSettings()
        database = Database(settings.database_url, settings.data)
        elsewhere = SqlTurns(database, "elsewhere", 60, SteadyClock())
        assert await elsewhere.reserve("local", "t", "s")

        async def add(first: int, lines: Sequence[dict[str, object]], state: str = RUNNING) -> None:
            written = [json.dumps(line).encode() for line in lines]
            await elsewhere.append([NewEvents("local", "t", "s", False, first, written, state)])

        await add(1, [{"event": "token", "chunk": "one"}, {"event": "token", "chunk": "two"}])
        refused = await live.client.post(f"{TURNS}/t/cancel")
        async with live.client.stream("GET", f"{TURNS}/t/events?after=1") as response:
            events = numbered(response)
            seen = [await anext(events)]
            await add(3, [{"event": "token", "chunk": "three"}])
            seen.append(await anext(events))
            await add(4, [{"event": "cancelled", "message": "Enough."}], "cancelled")
            seen += await some(events)
        await database.aclose()
    assert [event["sequence"] for event in seen] == [2, 3, 4]
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "runs_elsewhere")


async def test_events_that_are_too_old_are_gone_and_the_error_says_so(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("server.streams.running.SteadyClock", lambda: SteadyClock(lambda: now[0]))
    async with serving(assistant(catalogue, ScriptedModel("question", "Said.")), ServerSettings()) as live:
        sent = await started(live.client, **BODY)
        await in_store("t", len(sent))
        now[0] = ServerSettings().turn_events_kept + 60
        with anyio.fail_after(10):
            while (reply := await live.client.get(f"{TURNS}/t/events")).status_code == 200:  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # the server has them in memory until it knows that they are stored
    assert (reply.status_code, reply.json()["error"]["code"]) == (410, "events_expired")
    assert "WIREWRIGHT_TURN_EVENTS_KEPT" in reply.json()["error"]["fix"]


async def read_until_end(reader: asyncio.StreamReader) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async for line in reader:
        text = line.decode().strip()
        if text.startswith("data: "):
            found.append(event_of(text))
            if found[-1]["event"] == "complete":
                break
    return found


async def test_a_client_that_stops_reading_holds_up_nobody_and_can_read_on(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "word " * 40_000, "question", "Another.")
    async with serving(assistant(catalogue, model)) as live:
        await started(live.client, 1, **BODY)
        host, port = str(live.client.base_url.host), live.client.base_url.port
        with socket.socket() as small:
            small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            small.setblocking(False)
            await asyncio.get_running_loop().sock_connect(small, (host, port))
            reader, writer = await asyncio.open_connection(sock=small, limit=2**20)
            token = live.client.headers["Authorization"]
            head = f"GET {TURNS}/t/events HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: {token}\r\n\r\n"
            writer.write(head.encode())
            first = await reader.readuntil(b"\n\n")
            assert b'"sequence":1,' in first
            whole = await followed(live.client, "t")
            other = await started(live.client, input_value="And?", turn_id="other")
            assert other[-1]["data"]["result"] == "Another."
            rest = await read_until_end(reader)
            writer.close()
    assert whole[0]["sequence"] == 1
    assert rest == whole[1:]
