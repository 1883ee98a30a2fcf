"""What is done at once, or by the next look: a job that is cancelled ends, and the work of the dead goes on."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import anyio
import pytest
from sqlalchemy import update

from flows.document import JsonObject
from runtime.database.backends.clock import DatabaseTime
from runtime.database.database import Database
from runtime.database.tables import ServerRow
from runtime.durable.leases import BEAT_SECONDS, LEASE_SECONDS
from runtime.jobs import worker as workers
from runtime.jobs.batches import Batches, NewBatch
from runtime.jobs.claims import Claims
from runtime.jobs.job import Claim, NewJob, Outcome
from runtime.jobs.rows import Jobs
from runtime.jobs.worker import Worker, WorkerOptions
from server.durable.turns import LOOK_SECONDS
from server.store.turns import DURABLE_BEAT_SECONDS, DURABLE_LEASE_SECONDS
from server.streams.elsewhere import LISTEN_SECONDS
from tests.databases.postgres import Cluster
from tests.databases.stored import query

pytestmark = pytest.mark.anyio
NEVER = 100_000.0
LONG_AGO = "2026-01-01T00:00:00.000+00:00"


def job(name: str, owner: str = "ada") -> NewJob:
    """A job in the queue of runs."""
    return NewJob(id=name, owner=owner, kind="run", queue="runs")


def test_a_look_for_what_is_cancelled_comes_within_a_second_and_one_for_the_dead_within_five() -> None:
    assert max(workers.CHECK_SECONDS, LISTEN_SECONDS) < 1
    assert LEASE_SECONDS + BEAT_SECONDS <= 5
    assert DURABLE_LEASE_SECONDS + LOOK_SECONDS <= 5
    assert max(BEAT_SECONDS, DURABLE_BEAT_SECONDS) < LEASE_SECONDS / 2


async def test_a_job_is_cancelled_by_a_notice_and_not_by_a_look(
    postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails where nothing tells the worker: it would look for the first time in a day."""
    monkeypatch.setattr(workers, "CHECK_SECONDS", NEVER)
    database, begun = Database(postgres.schema(), tmp_path), asyncio.Event()

    async def perform(_: Claim) -> Outcome:
        begun.set()
        await asyncio.Event().wait()
        return Outcome()

    worker, jobs = Worker(database, "w", {"run": perform}, WorkerOptions(beat=NEVER, lease=NEVER)), Jobs(database)
    await jobs.add([job("a")])
    working = asyncio.create_task(worker.run())
    with anyio.fail_after(60):
        await begun.wait()
        assert (await jobs.cancel("ada", "a")).state in {"running", "cancelled"}, "as soon as it has been read again"
        while not (found := await jobs.get("ada", "a")).has_ended:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.02)
    assert found.state == "cancelled"
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await database.aclose()


async def test_a_job_that_is_queued_makes_no_worker_look_at_the_jobs_that_go_on(
    postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails where each notice means both: each job that is queued makes each of many workers read twice."""
    monkeypatch.setattr(workers, "CHECK_SECONDS", NEVER)
    database, looked, going, left = Database(postgres.schema(), tmp_path), list[int](), asyncio.Event(), Claims.left
    done = {name: asyncio.Event() for name in ("before", "b", "c")}

    async def look(self: Claims, claims: Iterable[Claim]) -> dict[int, bool]:
        looked.append(1)
        return await left(self, claims)

    async def perform(claim: Claim) -> Outcome:
        if claim.id == "a":
            going.set()
            await asyncio.Event().wait()
        done[claim.id].set()
        return Outcome()

    monkeypatch.setattr(Claims, "left", look)
    options = WorkerOptions(queues=("runs",), beat=NEVER, lease=NEVER)
    worker, jobs = Worker(database, "w", {"run": perform}, options), Jobs(database)
    working = asyncio.create_task(worker.run())
    listening = "select 1 from pg_stat_activity where query like 'LISTEN%' and wait_event = 'ClientRead'"
    with anyio.fail_after(60):
        while not await asyncio.to_thread(postgres.execute, listening):  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.02)
        await jobs.add([job("before")])  # by the end of which the worker has heard that it listens
        await done["before"].wait()
        await jobs.add([job("a")])
        await going.wait()
        for name in ("b", "c"):
            await jobs.add([NewJob(id=f"{name} of others", owner="bob", kind="turn", queue="turns")])
            await jobs.add([job(name)])
            await done[name].wait()
        assert looked == []
        await jobs.cancel("ada", "a")
        while not (await jobs.get("ada", "a")).has_ended:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.02)
    assert looked
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await database.aclose()


@pytest.mark.parametrize(("ago", "is_gone"), [(0.9, False), (1.1, True)])
async def test_a_worker_is_gone_once_its_lease_is_over_on_the_clock_of_the_database(
    database: Database, ago: float, is_gone: bool
) -> None:
    lease = 10_000.0  # which no pause of this test comes near
    jobs, dead, live = Jobs(database), Claims(database, "dead", lease=lease), Claims(database, "live", lease=lease)
    await jobs.add([job("a")])
    await dead.beat()
    assert len(await dead.claim(["runs"], 1)) == 1
    async with database.writing() as connection:
        late = update(ServerRow).where(ServerRow.id == "dead").values(seen_at=DatabaseTime(ago * lease))
        await connection.execute(late)
    assert await live.beat() == int(is_gone)
    assert (await jobs.get("ada", "a")).state == ("queued" if is_gone else "running")


async def test_limits_hold_though_workers_claim_at_the_same_moment(postgres: Cluster, tmp_path: Path) -> None:
    """Fails where they do not claim one after the other: each would count what goes on before the others have begun."""
    url = postgres.schema()
    databases = [Database(url, tmp_path) for _ in range(6)]
    await Jobs(databases[0]).add([job(f"a{at}") for at in range(20)])
    await Jobs(databases[0]).add([job(f"b{at}", "bob") for at in range(20)])
    for database in databases:
        await database.open()
    all_claims = [Claims(database, f"w{at}", of_user=3, in_all=5) for at, database in enumerate(databases)]
    found = await asyncio.gather(*(claims.claim(["runs"], 4) for claims in all_claims))
    owners = [claim.owner for claims in found for claim in claims]
    assert (len(owners), max(map(owners.count, owners))) == (5, 3)
    for database in databases:
        await database.aclose()


async def test_batches_are_removed_some_time_after_their_end_and_those_that_came_by_half_as_well(
    database: Database, database_url: str
) -> None:
    batches, worker = Batches(database), Claims(database, "w")
    for name, total in (("whole", 2), ("half", 4), ("goes on", 2)):
        given: JsonObject = {"flow": {}, "options": {}}
        await batches.start(
            NewBatch(
                id=name, owner="ada", flow="f", version=1, name="Echo", ceiling_tokens=None, given=given,
                inputs=[{"input_value": "a"}, {"input_value": "b"}], seconds=60, total=total,
            )
        )  # fmt: skip
    for claim in await worker.claim(["runs"], 6):
        if claim.batch != "goes on":
            assert await worker.finish(claim, Outcome(result={}))
    assert await batches.remove_ended(60) == 0
    query(database_url, "update jobs set ended_at = :then where ended_at is not null", then=LONG_AGO)
    query(database_url, "update batches set created_at = :then", then=LONG_AGO)
    assert await batches.remove_ended(60) == 2
    assert [one.id for one in (await batches.page("ada", 9))[0]] == ["goes on"]
    assert query(database_url, "select distinct batch from jobs") == [("goes on",)]
