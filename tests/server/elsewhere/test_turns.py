"""Turns that other processes take are followed to their end, whatever the database does meanwhile."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from server.elsewhere.turns import TurnsElsewhere
from server.store.queued_turns import QueuedTurns
from server.store.turn_rows import SqlTurns
from server.store.turns import Lines, NewEvents, SteadyClock

pytestmark = pytest.mark.anyio


def said(first: int, line: bytes, state: str = "running") -> NewEvents:
    """An event of the turn."""
    return NewEvents("ada", "t", session="", is_new=False, first=first, lines=[line], state=state, attempt=1)


async def test_followers_get_every_event_though_the_database_fails_for_a_while(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, clock = Database(database_url, tmp_path), SteadyClock()
    await database.open()
    turns = SqlTurns(database, "there", 60, clock, durable=True)

    async def store() -> SqlTurns:
        return turns

    news, failures = QueuedTurns.news, [1, 2, 3]

    async def failing(self: QueuedTurns, wanted: Any) -> Any:
        if failures:
            failures.pop()
            raise StoreUnavailable("the database is started again", "Wait.")
        return await news(self, wanted)

    monkeypatch.setattr(QueuedTurns, "news", failing)
    elsewhere = TurnsElsewhere(database, store, turns.find, asyncio.Event(), clock, 9, 60)
    assert await turns.reserve("ada", "t", "s", durable=True)
    got: list[list[Lines]] = [[] for _ in range(3)]

    async def follow(at: int) -> None:
        async for lines in elsewhere.read("ada", "t", 0):
            got[at].append(lines)

    following = [asyncio.create_task(follow(at)) for at in range(3)]
    await asyncio.sleep(0.05)
    await turns.append([said(1, b'{"event":"token"}')])
    await turns.append([said(2, b'{"event":"complete"}', "complete")])
    async with asyncio.timeout(30):
        await asyncio.gather(*following)
    assert failures == []
    for one in got:
        assert [number for lines in one for number, _ in lines] == [1, 2]
    elsewhere.aclose()
    await database.aclose()


async def test_those_who_hear_nothing_look_at_the_same_moments_however_they_began(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails where each looks some time after it began to wait: as many reads as there are followers."""
    followers, looked, database, clock = 20, list[int](), Database(database_url, tmp_path), SteadyClock()
    await database.open()
    turns, news = SqlTurns(database, "there", 60, clock, durable=True), QueuedTurns.news

    async def store() -> SqlTurns:
        return turns

    async def counting(self: QueuedTurns, wanted: Any) -> Any:
        looked.append(len(wanted))
        return await news(self, wanted)

    monkeypatch.setattr(QueuedTurns, "news", counting)
    elsewhere = TurnsElsewhere(database, store, turns.find, asyncio.Event(), clock, 99, 60)
    for at in range(followers):
        assert await turns.reserve("ada", f"t{at}", "s", durable=True)

    async def follow(at: int) -> None:
        async for _ in elsewhere.read("ada", f"t{at}", 0):
            pass

    following: list[asyncio.Task[None]] = []
    for at in range(followers):
        following.append(asyncio.create_task(follow(at)))
        await asyncio.sleep(0.01)
    async with asyncio.timeout(30):
        while looked[-3:] != [followers] * 3:  # noqa: ASYNC110  (nothing tells)
            await asyncio.sleep(0.02)
    for task in following:
        task.cancel()
    await asyncio.gather(*following, return_exceptions=True)
    elsewhere.aclose()
    await database.aclose()
