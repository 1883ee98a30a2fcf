"""What a worker says of an attempt of a job counts only while it is the job's: each part of that fence is needed."""

import os
import signal
from pathlib import Path

import pytest

from runtime.database.database import Database
from runtime.database.runs import RunRows
from runtime.jobs.claims import Claims
from runtime.jobs.job import Claim, NewJob, Outcome
from runtime.jobs.rows import Jobs
from runtime.sessions.run_entry import LoggedRun, RunEntry
from runtime.usage.entry import Usage
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.runtime.jobs.test_workers import _REAL, counting, done, queued, running, until  # pyright: ignore[reportPrivateUsage]  (its processes)

pytestmark = pytest.mark.anyio
LONG_AGO = "2026-01-01T00:00:00.000+00:00"
STORED = "select state, worker, attempts, error, tokens, ended_at from jobs order by number"


def job(name: str) -> NewJob:
    """A job in the queue of runs."""
    return NewJob(id=name, owner="ada", kind="run", queue="runs")


async def check_refused(claims: Claims, claim: Claim, url: str) -> None:
    """Nothing that is said of an attempt changes anything."""
    entry = RunEntry.begun("r", "hi", flow="f", name="Echo", source="http", session=None)
    before = query(url, STORED)
    run = LoggedRun(owner="ada", entry=entry)
    said = Outcome(result={"by": "zombie"}, tokens=7, run=run, used={("ada", "2026-01-01", "m"): Usage(runs=1)})
    assert not await claims.finish(claim, said)
    assert not await claims.finish(claim, Outcome(error="It broke."))
    assert not await claims.cancelled(claim)
    for counted in (True, False):
        await claims.give_back([claim], counted=counted)
    assert await claims.left([claim]) == {}
    assert query(url, STORED) == before
    assert query(url, "select count(*) from runs") == [(0,)]
    assert query(url, "select count(*) from usage") == [(0,)]


async def lost_claim(database: Database, url: str, worker: str) -> tuple[Claims, Claim]:
    """A worker that was frozen for longer than its lease, and the attempt that was given back meanwhile."""
    frozen, live = Claims(database, worker), Claims(database, "live")
    await frozen.beat()
    (lost,) = await frozen.claim(["runs"], 1)
    query(url, "update servers set seen_at = :then where id = :worker", then=LONG_AGO, worker=worker)
    assert await live.beat() == 1
    return frozen, lost


async def test_an_attempt_that_was_given_back_is_not_the_one_that_the_same_worker_was_given_since(
    database: Database, database_url: str
) -> None:
    """Fails where the number of the attempt is not compared: the worker is the same, and the job goes on there."""
    jobs = Jobs(database)
    await jobs.add([job("a")])
    worker, lost = await lost_claim(database, database_url, "w")
    (again,) = await worker.claim(["runs"], 1)
    assert (lost.attempt, again.attempt) == (1, 2)
    await check_refused(worker, lost, database_url)
    assert await worker.finish(again, Outcome(result={"by": "w"}))
    assert await jobs.result("ada", "a") == {"by": "w"}


async def test_an_attempt_of_the_same_number_is_of_who_has_it(database: Database, database_url: str) -> None:
    """Fails where the worker is not compared: a job that is queued again begins with its first attempt again."""
    jobs, live, frozen = Jobs(database), Claims(database, "live"), Claims(database, "frozen")
    await jobs.add([job("a")])
    await frozen.beat()
    (lost,) = await frozen.claim(["runs"], 1)
    await jobs.cancel("ada", "a")
    query(database_url, "update servers set seen_at = :then", then=LONG_AGO)
    assert await live.beat() == 1
    assert (await jobs.retry("ada", "a")).state == "queued"
    (taken,) = await live.claim(["runs"], 1)
    assert (lost.number, lost.attempt) == (taken.number, taken.attempt)
    await check_refused(frozen, lost, database_url)
    assert await live.finish(taken, Outcome(result={"by": "live"}))
    assert await jobs.result("ada", "a") == {"by": "live"}


async def test_an_attempt_that_is_over_is_not_ended_again(database: Database, database_url: str) -> None:
    """Fails where the state is not compared: worker and attempt of a job that is over stay as they were."""
    jobs, worker = Jobs(database), Claims(database, "w")
    await jobs.add([job("a"), job("b")])
    for claim in await worker.claim(["runs"], 2):
        assert await worker.finish(claim, Outcome(result={"by": "w"}))
        await check_refused(worker, claim, database_url)
    assert await jobs.result("ada", "a") == {"by": "w"}


async def test_a_run_and_its_usage_are_stored_with_its_job(database: Database, database_url: str) -> None:
    jobs, worker = Jobs(database), Claims(database, "w")
    await jobs.add([job("a")])
    (claim,) = await worker.claim(["runs"], 1)
    entry = RunEntry.begun("r", "hi", flow="f", name="Echo", source="http", session=None)
    outcome = Outcome(run=LoggedRun(owner="ada", entry=entry), used={("ada", "2026-01-01", "m"): Usage(runs=1)})
    assert await worker.finish(claim, outcome)
    assert not await worker.finish(claim, outcome)
    assert query(database_url, "select owner, day, model, runs from usage") == [("ada", "2026-01-01", "m", 1)]
    assert (await RunRows(database).get("ada", "r")) is not None
    assert (await jobs.get("ada", "a")).run == "r"


async def test_the_result_of_a_worker_that_was_frozen_past_its_lease_is_refused_when_it_is_thawed(
    postgres: Cluster, tmp_path: Path, python_command: Path
) -> None:
    """Fails where outcomes are stored whoever has the job: the thawed worker's comes last."""
    url, notes = postgres.schema(), tmp_path / "notes"
    async with (
        queued(url, tmp_path, 1, seconds=1) as jobs,
        counting(python_command, url, "frozen", notes, places=1) as frozen,
    ):
        await until(lambda: running(url, "frozen") == 1)
        os.kill(_REAL[frozen.pid], signal.SIGSTOP)
        async with counting(python_command, url, "live", notes, places=1):
            await until(lambda: done(url) == 1)
        os.kill(_REAL[frozen.pid], signal.SIGCONT)
        await until(lambda: "job-0 frozen" in notes.read_text())
        await jobs.add([job("next")])  # its one place is free once it has said what came of the first
        await until(lambda: done(url) == 2)
        assert await jobs.result("user-0", "job-0") == {"by": "live", "attempt": 2}
        assert await jobs.result("ada", "next") == {"by": "frozen", "attempt": 1}
