"""Workers that were late, that lack the key, or whose database is away: none of it is a fault of the job."""

import asyncio
import os
import signal
from pathlib import Path

import anyio
import pytest

from runtime.database.database import Database
from runtime.database.errors import DatabaseGone
from runtime.jobs.claims import POISON, Claims
from runtime.jobs.job import SPARED, TRIES, Claim, NewJob, Outcome
from runtime.jobs.rows import Jobs
from runtime.jobs.worker import Worker, WorkerOptions
from runtime.keychain.master_key import VARIABLE
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.runtime.jobs.test_workers import _REAL, counting, queued, running, until  # pyright: ignore[reportPrivateUsage]  (its processes)

pytestmark = pytest.mark.anyio
LONG_AGO = "2026-01-01T00:00:00.000+00:00"


def job(name: str) -> NewJob:
    """A job in the queue of runs."""
    return NewJob(id=name, owner="ada", kind="run", queue="runs")


async def test_a_job_whose_worker_was_frozen_four_times_is_done_once_it_is_left_alone(
    postgres: Cluster, tmp_path: Path, python_command: Path
) -> None:
    url, notes = postgres.schema(), tmp_path / "notes"
    async with (
        queued(url, tmp_path, 1, seconds=4),
        counting(python_command, url, "a", notes) as first,
        counting(python_command, url, "b", notes) as second,
    ):
        workers = {"a": first, "b": second}
        await until(lambda: running(url, "a") + running(url, "b") == 1)
        for times in range(1, TRIES + 2):
            ((name,),) = query(url, "select worker from jobs")
            other = "b" if name == "a" else "a"
            os.kill(_REAL[workers[name].pid], signal.SIGSTOP)
            await until(lambda other=other: running(url, other) == 1)
            os.kill(_REAL[workers[name].pid], signal.SIGCONT)
            await until(lambda times=times: query(url, "select spared from jobs") == [(times,)])
        await until(lambda: query(url, "select state from jobs") != [("running",)])
    assert query(url, "select state, attempts, error from jobs") == [("done", TRIES + 2, None)]


async def test_a_job_that_halts_its_workers_again_and_again_fails_in_the_end(
    database: Database, database_url: str
) -> None:
    jobs, live = Jobs(database), Claims(database, "live")
    await jobs.add([job("a")])
    begun = 0
    while (await jobs.get("ada", "a")).state == "queued":
        late = Claims(database, "late")
        lost = await late.claim(["runs"], 1)
        begun += len(lost)
        assert await live.beat() == 1
        await late.spare(lost)
    assert begun == SPARED + TRIES
    assert (await jobs.get("ada", "a")).error == POISON
    assert query(database_url, "select spared from jobs") == [(SPARED,)]


async def test_a_worker_whose_lease_has_run_out_renews_it_before_it_takes_jobs(
    database: Database, database_url: str
) -> None:
    jobs, thawed, live = Jobs(database), Claims(database, "thawed"), Claims(database, "live")
    await jobs.add([job("a"), job("b")])
    await thawed.beat()
    query(database_url, "update servers set seen_at = :then", then=LONG_AGO)
    claims = await thawed.claim(["runs"], 2)
    assert await live.beat() == 0
    assert [await thawed.finish(claim, Outcome()) for claim in claims] == [True, True]


async def test_a_job_that_cannot_be_read_is_left_to_a_worker_with_the_key(
    database: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = Jobs(database)
    await jobs.add([job("a")])
    lacking = Database(database_url, tmp_path)
    await lacking.open()
    claims, owner = Claims(lacking, "lacking"), Claims(database, "owner")
    monkeypatch.setattr(lacking, "documents", Database(database_url, tmp_path / "other").documents)
    assert await claims.claim(["runs"], 1) == []
    left = await jobs.get("ada", "a")
    assert (left.state, left.attempts, left.error) == ("queued", 0, None)
    await jobs.add([job("b")])
    assert await claims.claim(["runs"], 1) == []
    assert {claim.id for claim in await owner.claim(["runs"], 2)} == {"a", "b"}
    await lacking.aclose()


async def test_a_job_during_which_the_database_is_away_is_given_back_and_no_try(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("runtime.jobs.claims.ASIDE_SECONDS", 0.1)
    jobs, tries = Jobs(database), list[int]()

    async def perform(claim: Claim) -> Outcome:
        tries.append(claim.attempt)
        if len(tries) <= TRIES + 1:
            raise DatabaseGone
        return Outcome(result={})

    worker = Worker(database, "w", {"run": perform}, WorkerOptions(lease=30))
    await jobs.add([job("a")])
    working = asyncio.create_task(worker.run())
    with anyio.fail_after(60):
        while not (found := await jobs.get("ada", "a")).has_ended:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.05)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    assert (found.state, tries) == ("done", [1] * (TRIES + 2))
