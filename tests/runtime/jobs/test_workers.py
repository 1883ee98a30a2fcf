"""Workers in processes of their own on one Postgres: killed, frozen, with wrong clocks, and without their database."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from runtime.database.database import Database
from runtime.jobs.job import NewJob
from runtime.jobs.rows import Jobs
from tests.databases.postgres import Cluster
from tests.databases.stored import query

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]
JOBS = 500
_REAL: dict[int, int] = {}
"""The workers' processes by those of the programs that stand for them."""
LEFT = "select count(*) from jobs where state in ('queued', 'running')"


@asynccontextmanager
async def counting(
    python: Path, url: str, name: str, notes: Path, *more: str, places: int = 4
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A worker that writes down what it has done."""
    process = await asyncio.create_subprocess_exec(
        *(python, "-m", "tests.runtime.jobs.counting", url, name, str(places), str(notes), *more),
        cwd=ROOT, env=dict(os.environ), stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        with anyio.fail_after(60):
            ready, pid = (await process.stdout.readline()).split()
        assert ready == b"ready"
        _REAL[process.pid] = int(pid)
        yield process
    finally:
        if process.returncode is None:
            _signal(process, signal.SIGCONT)
            process.kill()
        await process.wait()


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    """Send a signal to the worker itself, not to the program that stands for it, which cannot pass it on."""
    os.kill(_REAL[process.pid], number)


@asynccontextmanager
async def queued(url: str, folder: Path, number: int, seconds: float = 0.02) -> AsyncGenerator[Jobs]:
    """Jobs that wait."""
    database = Database(url, folder)
    jobs = Jobs(database)
    for user in range(5):
        mine = [
            NewJob(id=f"job-{at}", owner=f"user-{user}", kind="run", queue="runs", given={"seconds": seconds})
            for at in range(user, number, 5)
        ]
        await jobs.add(mine)
    yield jobs
    await database.aclose()


async def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something holds."""
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110  (other processes bring it about)
            await asyncio.sleep(0.05)


def done(url: str) -> int:
    """How many jobs are done."""
    return query(url, "select count(*) from jobs where state = 'done'")[0][0]


def running(url: str, worker: str) -> int:
    """How many jobs a worker has."""
    return query(url, "select count(*) from jobs where state = 'running' and worker = :worker", worker=worker)[0][0]


async def test_500_jobs_end_once_though_one_of_three_workers_is_killed_and_one_is_frozen(
    postgres: Cluster, tmp_path: Path, python_command: Path
) -> None:
    url, notes = postgres.schema(), tmp_path / "notes"
    async with queued(url, tmp_path, JOBS) as jobs, AsyncExitStack() as stack:
        killed, frozen, _ = [
            await stack.enter_async_context(counting(python_command, url, name, notes))
            for name in ("killed", "frozen", "lasting")
        ]
        await until(lambda: done(url) > 60 and running(url, "killed") > 0)
        killed.kill()
        await until(lambda: running(url, "frozen") > 0)
        _signal(frozen, signal.SIGSTOP)
        taken = query(url, "select owner, id from jobs where state = 'running' and worker = 'frozen'")
        await until(lambda: running(url, "frozen") == 0 and running(url, "killed") == 0)
        _signal(frozen, signal.SIGCONT)
        await until(lambda: query(url, LEFT)[0][0] == 0)
        for owner, id_ in taken:
            found = await jobs.get(owner, id_)
            assert await jobs.result(owner, id_) == {"by": found.worker, "attempt": found.attempts}
    assert taken
    ended = query(url, "select id, state, worker, attempts from jobs")
    assert Counter(state for _, state, _, _ in ended) == {"done": JOBS}
    assert len({id_ for id_, _, _, _ in ended}) == JOBS
    again = {id_ for id_, _, _, attempts in ended if attempts > 1}
    assert again
    begun = Counter(line.split()[0] for line in notes.read_text().splitlines())
    assert set(begun) == {f"job-{at}" for at in range(JOBS)}
    assert {id_ for id_, times in begun.items() if times > 1} <= again


async def test_workers_whose_clocks_are_minutes_apart_take_nothing_from_each_other(
    postgres: Cluster, tmp_path: Path, python_command: Path
) -> None:
    url, notes = postgres.schema(), tmp_path / "notes"
    async with queued(url, tmp_path, 40, seconds=0.1), AsyncExitStack() as stack:
        for name, skew in (("early", "-60"), ("late", "60")):
            await stack.enter_async_context(counting(python_command, url, name, notes, skew))
        await until(lambda: query(url, LEFT)[0][0] == 0)
    assert query(url, "select distinct state, attempts from jobs") == [("done", 1)]
    assert {worker for (worker,) in query(url, "select distinct worker from jobs")} == {"early", "late"}


async def test_jobs_go_on_when_postgres_is_restarted_under_load(
    own_postgres: Cluster, tmp_path: Path, python_command: Path
) -> None:
    url, notes = own_postgres.schema(), tmp_path / "notes"
    async with (
        queued(url, tmp_path, 100),
        counting(python_command, url, "one", notes),
        counting(python_command, url, "two", notes),
    ):
        await until(lambda: done(url) > 10)
        own_postgres.stop()
        await asyncio.sleep(0.3)
        own_postgres.start()
        await until(lambda: query(url, LEFT)[0][0] == 0)
    assert query(url, "select state, count(*) from jobs group by state") == [("done", 100)]
    assert set(Counter(line.split()[0] for line in notes.read_text().splitlines())) == {
        f"job-{at}" for at in range(100)
    }


async def test_a_worker_that_is_terminated_ends_what_it_has_begun(
    postgres: Cluster, tmp_path: Path, python_command: Path
) -> None:
    url, notes = postgres.schema(), tmp_path / "notes"
    async with queued(url, tmp_path, 5, seconds=0.5), counting(python_command, url, "one", notes) as worker:
        await until(lambda: running(url, "one") == 4)
        worker.terminate()
        with anyio.fail_after(30):
            assert await worker.wait() == 0
    assert query(url, "select state, count(*) from jobs group by state order by state") == [("done", 4), ("queued", 1)]
    assert query(url, "select distinct attempts from jobs where state = 'done'") == [(1,)]


async def test_an_idle_worker_is_woken_and_a_cancelled_job_ends_at_once(
    postgres: Cluster, tmp_path: Path, python_command: Path
) -> None:
    url, notes = postgres.schema(), tmp_path / "notes"
    async with queued(url, tmp_path, 0) as jobs, counting(python_command, url, "one", notes):
        await until(lambda: bool(query(url, "select 1 from servers where id = 'one'")))
        await jobs.add([NewJob(id="a", owner="ada", kind="run", queue="runs", given={"seconds": 60})])
        await until(lambda: running(url, "one") == 1)
        await jobs.cancel("ada", "a")
        await until(lambda: query(url, LEFT)[0][0] == 0)
    assert query(url, "select state from jobs") == [("cancelled",)]
