"""Turns that wait for a worker: taken once, in order, stopped, returned, and read together."""

import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from runtime.database.database import Database
from runtime.jobs.errors import QueueFull
from runtime.jobs.job import NewJob
from runtime.jobs.rows import Jobs
from server.durable.queued import TURN_JOB
from server.store.queued_turns import QueuedTurns
from server.store.turn_rows import READ_ROWS, SqlTurns
from server.store.turns import NewEvents, SteadyClock
from tests.databases.stored import query

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def stored(url: str, folder: Path, limit: int = 10) -> AsyncGenerator[tuple[QueuedTurns, SqlTurns, Jobs]]:
    """The turns that wait, all turns, and the jobs; each look at the clock is a second after the one before."""
    ticks = count()
    clock = SteadyClock(lambda: float(next(ticks)), lambda: 1_700_000_000.0)
    database = Database(url, folder)
    await database.open()
    yield QueuedTurns(database, clock, limit), SqlTurns(database, "here", 60, clock, durable=True), Jobs(database)
    await database.aclose()


def job(turn: str) -> NewJob:
    """The job of a turn."""
    return NewJob(id=f"{TURN_JOB}{turn}", owner="ada", kind="turn", queue="turns")


def ending(turn: str, attempt: int) -> NewEvents:
    """The last event of a turn."""
    line = b'{"event":"complete"}'
    return NewEvents("ada", turn, session="", is_new=False, first=1, lines=[line], state="complete", attempt=attempt)


async def test_a_turn_is_queued_once_and_taken_by_one_worker(database_url: str, tmp_path: Path) -> None:
    async with stored(database_url, tmp_path, limit=1) as (queued, turns, jobs):
        assert await queued.add("s", "one", job("one"))
        assert not await queued.add("s", "one", job("one"))
        with pytest.raises(QueueFull):
            await queued.add("s", "two", job("two"))
        assert await turns.find("ada", "two") is None, "neither the turn nor its job"
        assert (await jobs.page("ada", 9))[1] == 1
        assert await turns.lost() == [], "a turn that waits is not lost"
        assert [await queued.take("ada", "one", name) for name in ("a", "b")] == [1, None]


async def test_a_turn_comes_after_the_earlier_ones_of_its_conversation(database_url: str, tmp_path: Path) -> None:
    async with stored(database_url, tmp_path) as (queued, turns, _):
        for turn, session in (("one", "s"), ("other", "t"), ("two", "s")):
            await queued.add(session, turn, job(turn))
        assert [await queued.comes_later("ada", turn) for turn in ("one", "other", "two")] == [False, False, True]
        assert not await queued.comes_later("ada", "two", waiting=False), "the earlier one is taken by nobody"
        assert await queued.take("ada", "two", "here", waiting=True) is None, "nor is it taken before that one"
        attempt = await queued.take("ada", "one", "here", waiting=True)
        assert attempt == 1
        assert await queued.comes_later("ada", "two", waiting=False)
        assert await queued.take("ada", "two", "here", waiting=False) is None
        await turns.append([ending("one", attempt)])
        assert not await queued.comes_later("ada", "two")
        assert await queued.take("ada", "two", "here", waiting=True) == 1


async def test_the_order_of_a_conversation_is_the_databases_whatever_the_clocks_of_its_servers_say(
    database_url: str, tmp_path: Path
) -> None:
    async with stored(database_url, tmp_path) as (_, turns, _):
        database = Database(database_url, tmp_path)
        for turn, minutes in (("one", 1), ("two", -1)):
            clock = SteadyClock(now=lambda minutes=minutes: time.time() + 60 * minutes)
            assert await QueuedTurns(database, clock, 10).add("s", turn, job(turn))
        queued = QueuedTurns(database, SteadyClock(), 10)
        assert [await queued.comes_later("ada", turn) for turn in ("one", "two")] == [False, True]
        assert await turns.lost() == []
        early = SqlTurns(database, "early", 60, SteadyClock(now=lambda: time.time() - 60), durable=True)
        late = SqlTurns(database, "late", 60, SteadyClock(now=lambda: time.time() + 60), durable=True)
        for each, turn in ((early, "one"), (late, "two")):
            await each.beat()
            assert await queued.take("ada", turn, each.server) == 1
        assert (await early.lost(), await late.lost()) == ([], []), "nobody takes what the other one has"
        assert not await late.claim("ada", "one")
        assert not await early.claim("ada", "two")
        await database.aclose()


async def test_a_turn_whose_job_is_over_is_ended(database_url: str, tmp_path: Path) -> None:
    async with stored(database_url, tmp_path) as (queued, turns, jobs):
        for turn in ("stopped", "cancelled", "waits"):
            await queued.add("s", turn, job(turn))
        assert await queued.stop("ada", "stopped")
        assert not await queued.stop("ada", "unknown")
        await jobs.cancel("ada", f"{TURN_JOB}cancelled")
        news = await queued.news([("ada", turn, 0) for turn in ("stopped", "cancelled", "waits")])
        assert [one.is_forgotten for one in news] == [False, True, False]
        assert await queued.end_forgotten() == 1
        states = [await turns.find("ada", turn) for turn in ("stopped", "cancelled", "waits")]
        assert [one and one.state for one in states] == ["cancelled", "cancelled", "running"]
        [stopped] = await queued.news([("ada", "stopped", 0)])
        [(number, line)] = stopped.lines
        assert (number, b'"stopped"' in line) == (1, True)


async def test_a_turn_whose_job_has_failed_says_so_and_not_that_it_was_ended(database_url: str, tmp_path: Path) -> None:
    async with stored(database_url, tmp_path) as (queued, turns, _):
        await queued.add("s", "one", job("one"))
        query(database_url, "update jobs set state = 'failed', error = 'It broke.'")
        assert await queued.end_forgotten() == 1
        [found] = await queued.news([("ada", "one", 0)])
        ((_, line),) = found.lines
        told = json.loads(line)
        assert (told["event"], told["code"]) == ("error", "turn_given_up")
        assert "It broke." in told["message"]
        ended = await turns.find("ada", "one")
        assert ended is not None
        assert ended.state == "error"


async def test_a_turn_of_which_nothing_was_done_waits_again_for_the_next_attempt(
    database_url: str, tmp_path: Path
) -> None:
    async with stored(database_url, tmp_path) as (queued, turns, jobs):
        await queued.add("s", "one", job("one"))
        assert await queued.take("ada", "one", "gone") == 1
        assert not await queued.return_unbegun("ada", "one", "another")
        assert await queued.return_unbegun("ada", "one", "gone")
        assert await queued.take("ada", "one", "here") == 2
        late = [ending("one", 1)]
        assert await turns.append(late) == late, "the first attempt writes nothing more"
        await jobs.cancel("ada", f"{TURN_JOB}one")
        assert not await queued.return_unbegun("ada", "one", "here")


async def test_the_news_of_several_turns_are_what_came_after_what_is_known(database_url: str, tmp_path: Path) -> None:
    async with stored(database_url, tmp_path) as (queued, turns, _):
        for turn in ("one", "two"):
            await queued.add("s", turn, job(turn))
            await queued.take("ada", turn, "here")
            lines = [f'{{"event":"token","chunk":"{turn}{at}"}}'.encode() for at in (1, 2, 3)]
            said = NewEvents("ada", turn, session="", is_new=False, first=1, lines=lines, state="running", attempt=1)
            assert list(await turns.append([said])) == []
        wanted = [("ada", "one", 2), ("ada", "two", 0), ("ada", "three", 0), ("ada", "one", 0), ("ada", "one", 3)]
        news = await queued.news(wanted)
        assert [[number for number, _ in one.lines] for one in news] == [[3], [1, 2, 3], [], [1, 2, 3], []]
        assert [one.turn is None for one in news] == [False, False, True, False, False]
        assert news[1].lines[-1] == (3, b'{"event":"token","chunk":"two3"}')


async def test_whoever_is_far_behind_gets_what_is_stored_some_at_a_time(database_url: str, tmp_path: Path) -> None:
    async with stored(database_url, tmp_path) as (queued, turns, _):
        await queued.add("s", "one", job("one"))
        await queued.take("ada", "one", "here")
        for first in range(1, 31, 3):
            lines = [b'{"event":"token"}'] * 3
            said = NewEvents(
                "ada", "one", session="", is_new=False, first=first, lines=lines, state="running", attempt=1
            )
            assert list(await turns.append([said])) == []
        for begun in range(31):
            at, numbers, reads = begun, list[int](), 0
            while True:
                [news] = await queued.news([("ada", "one", at)])
                numbers += [number for number, _ in news.lines]
                at, reads = numbers[-1] if numbers else at, reads + 1
                assert len(news.lines) <= 3 * READ_ROWS
                if not news.has_more:
                    break
            assert numbers == list(range(begun + 1, 31))
            assert reads <= 10 // READ_ROWS + 1
