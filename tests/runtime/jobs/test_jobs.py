"""Jobs: queued, claimed in order, ended once, and refused when they are another worker's."""

import asyncio

import anyio
import pytest

from runtime.database.database import Database
from runtime.jobs.claims import POISON, Claims
from runtime.jobs.errors import JobGoesOn, JobHasEnded, JobNotFound, QueueFull, TurnNotRetried
from runtime.jobs.job import BATCH, SCHEDULED, TRIES, Claim, NewJob, Outcome
from runtime.jobs.rows import Jobs
from runtime.jobs.worker import Worker, WorkerOptions
from tests.databases.stored import query

pytestmark = pytest.mark.anyio
LONG_AGO = "2026-01-01T00:00:00.000+00:00"


def job(name: str, owner: str = "ada", rank: int = 0, **more: object) -> NewJob:
    """A job in the queue of runs."""
    return NewJob(id=name, owner=owner, kind="run", queue="runs", rank=rank, **more)  # pyright: ignore[reportArgumentType]  (as JSON has it)


async def order(claims: Claims, places: int = 1000) -> list[str]:
    """The ids of the jobs that are claimed, one after the other."""
    found: list[str] = []
    while len(found) < places and (claimed := await claims.claim(["runs"], 1)):
        found.append(claimed[0].id)
    return found


async def test_a_job_is_queued_done_and_read(database: Database) -> None:
    jobs, claims = Jobs(database), Claims(database, "w")
    assert await jobs.add([job("a", given={"text": "hi"})]) == 1
    assert (await jobs.get("ada", "a")).state == "queued"
    (claim,) = await claims.claim(["turns", "runs"], 4)
    assert (claim.id, claim.attempt, claim.given) == ("a", 1, {"text": "hi"})
    assert ((await jobs.get("ada", "a")).state, (await jobs.get("ada", "a")).worker) == ("running", "w")
    assert await claims.finish(claim, Outcome(result={"said": "hi"}))
    assert not await claims.finish(claim, Outcome(result={"said": "twice"}))
    ended = await jobs.get("ada", "a")
    assert (ended.state, ended.attempts, ended.has_ended) == ("done", 1, True)
    assert await jobs.result("ada", "a") == {"said": "hi"}
    with pytest.raises(JobNotFound):
        await jobs.get("bob", "a")


async def test_a_second_job_of_an_id_is_the_first_one(database: Database) -> None:
    jobs = Jobs(database)
    assert await jobs.add([job("a"), job("b")]) == 2
    assert await jobs.add([job("b"), job("c")]) == 1
    assert (await jobs.page("ada", 10))[1] == 3
    assert await jobs.add([job("a", "bob")]) == 1


async def test_one_users_hundred_jobs_do_not_hold_up_the_first_one_of_another(database: Database) -> None:
    jobs, claims = Jobs(database), Claims(database, "w")
    await jobs.add([job(f"a{number:03}") for number in range(100)])
    before = await order(claims, 4)
    await jobs.add([job("b0", "bob"), job("b1", "bob")])
    after = await order(claims, 6)
    assert before == ["a000", "a001", "a002", "a003"]
    assert after.index("b0") <= 1, after
    assert after.index("b1") <= 3, after


async def test_a_person_goes_before_a_batch_whatever_the_queue(database: Database) -> None:
    jobs, claims = Jobs(database), Claims(database, "w")
    await jobs.add([job("a", rank=BATCH), job("b", rank=BATCH)])
    await jobs.add([job("c", "bob")])
    await jobs.add([NewJob(id="d", owner="eve", kind="attempt", queue="evals")])
    claimed = await claims.claim(["turns", "runs", "evals"], 2)
    assert {claim.id for claim in claimed} == {"c", "d"}


async def test_a_users_single_run_and_schedules_go_before_the_users_batch_and_users_take_turns_in_each(
    database: Database,
) -> None:
    jobs, claims = Jobs(database), Claims(database, "w")
    for owner in ("ada", "bob"):
        await jobs.add([job(f"batch {number} of {owner}", owner, BATCH) for number in range(3)])
    await jobs.add([job("due", rank=SCHEDULED)])
    await jobs.add([job("wanted")])
    first, second, *later = await order(claims)
    assert (first, second) == ("wanted", "due")
    assert [name.split()[-1] for name in later[:4]].count("ada") == 2


async def test_a_turn_that_has_ended_is_not_queued_again(database: Database) -> None:
    jobs = Jobs(database)
    await jobs.add([NewJob(id="turn.t", owner="ada", kind="turn", queue="turns")])
    with pytest.raises(JobGoesOn):
        await jobs.retry("ada", "turn.t")
    await jobs.cancel("ada", "turn.t")
    with pytest.raises(TurnNotRetried, match="not taken again") as refused:
        await jobs.retry("ada", "turn.t")
    assert refused.value.fix
    assert (await jobs.get("ada", "turn.t")).state == "cancelled"


async def test_limits_count_what_all_workers_do(database: Database) -> None:
    jobs = Jobs(database)
    one, two = Claims(database, "one", of_user=2, in_all=3), Claims(database, "two", of_user=2, in_all=3)
    await jobs.add([job(f"a{number}") for number in range(5)])
    await jobs.add([job(f"b{number}", "bob") for number in range(5)])
    first = [*await one.claim(["runs"], 2), *await two.claim(["runs"], 4)]
    assert len(first) == 3
    assert max([claim.owner for claim in first].count(owner) for owner in ("ada", "bob")) == 2
    assert await one.claim(["runs"], 4) == []
    await two.finish(first[-1], Outcome())
    assert len(await one.claim(["runs"], 4)) == 1


async def test_the_work_of_a_dead_worker_goes_on_and_what_a_zombie_says_is_refused(
    database: Database, database_url: str
) -> None:
    jobs = Jobs(database)
    frozen, live = Claims(database, "frozen"), Claims(database, "live")
    await jobs.add([job("a")])
    await frozen.beat()
    (lost,) = await frozen.claim(["runs"], 1)
    assert await live.beat() == 0
    query(database_url, "update servers set seen_at = :then where id = 'frozen'", then=LONG_AGO)
    assert await live.beat() == 1
    (taken,) = await live.claim(["runs"], 1)
    assert (taken.id, taken.attempt) == ("a", 2)
    assert not await frozen.finish(lost, Outcome(result={"by": "frozen"}))
    assert not await frozen.cancelled(lost)
    await frozen.give_back([lost], counted=True)
    assert (await jobs.get("ada", "a")).worker == "live"
    assert await live.finish(taken, Outcome(result={"by": "live"}))
    assert await jobs.result("ada", "a") == {"by": "live"}


async def test_a_job_that_kills_its_workers_stops_after_three_tries(database: Database, database_url: str) -> None:
    jobs, live = Jobs(database), Claims(database, "live")
    await jobs.add([job("a")])
    for _ in range(TRIES):
        assert len(await Claims(database, "dead").claim(["runs"], 1)) == 1
        assert await live.beat() == 1
    ended = await jobs.get("ada", "a")
    assert (ended.state, ended.attempts, ended.error) == ("failed", TRIES, POISON)
    again = await jobs.retry("ada", "a")
    assert (again.state, again.attempts, again.error) == ("queued", 0, None)


async def test_a_job_that_is_given_up_is_followed_up_once_as_every_one_that_fails(database: Database) -> None:
    """Fails where only who has done a job follows it up: nobody is told of a schedule's run that ends its workers."""
    jobs, live, told = Jobs(database), Claims(database, "live"), list[tuple[str, str | None, object]]()
    followed = asyncio.Event()

    async def accepted(claim: Claim, outcome: Outcome) -> None:
        told.append((claim.id, outcome.error, claim.given))
        followed.set()

    await jobs.add([job("a", given={"notify": "http://example.org"}), job("b")])
    for times in range(TRIES):
        assert await live.beat() == (2 if times else 0)
        assert await live.given_up() == []
        assert len(await Claims(database, "dead").claim(["runs"], 2)) == 2
    await jobs.cancel("ada", "b")
    async with working(Worker(database, "w", {}, WorkerOptions(queues=(), lease=30, beat=0.05), accepted)):
        with anyio.fail_after(30):
            await followed.wait()
    assert told == [("a", POISON, {"notify": "http://example.org"})]
    assert (await live.beat(), await live.given_up()) == (0, [])
    assert [(await jobs.get("ada", name)).state for name in ("a", "b")] == ["failed", "cancelled"]


async def test_only_what_has_failed_is_tried_again_and_only_what_goes_on_is_cancelled(database: Database) -> None:
    jobs, claims = Jobs(database), Claims(database, "w")
    await jobs.add([job("a")])
    with pytest.raises(JobGoesOn):
        await jobs.retry("ada", "a")
    assert (await jobs.cancel("ada", "a")).state == "cancelled"
    assert await claims.claim(["runs"], 1) == []
    with pytest.raises(JobHasEnded):
        await jobs.cancel("ada", "a")
    with pytest.raises(JobNotFound):
        await jobs.cancel("bob", "a")


async def test_a_user_may_have_so_many_waiting(database: Database) -> None:
    jobs = Jobs(database, limit=2)
    with pytest.raises(QueueFull):
        await jobs.add([job("a"), job("b"), job("c")])
    assert await jobs.add([job("a"), job("b")]) == 2


async def test_old_jobs_are_deleted(database: Database, database_url: str) -> None:
    jobs, claims = Jobs(database), Claims(database, "w")
    await jobs.add([job("a"), job("b")])
    (first,) = await claims.claim(["runs"], 1)
    await claims.finish(first, Outcome())
    assert await jobs.remove_ended(60) == 0
    query(database_url, "update jobs set ended_at = :then where state = 'done'", then=LONG_AGO)
    assert await jobs.remove_ended(60) == 1
    assert (await jobs.page("ada", 10))[1] == 1


async def test_a_worker_ends_what_is_cancelled_what_takes_too_long_and_tries_again_what_breaks(
    database: Database,
) -> None:
    jobs, begun = Jobs(database), asyncio.Event()
    tries: list[int] = []

    async def perform(claim: Claim) -> Outcome:
        if claim.id == "breaks":
            tries.append(claim.attempt)
            raise RuntimeError("broken")
        begun.set()
        await asyncio.sleep(60)
        return Outcome()

    worker = Worker(database, "w", {"run": perform}, WorkerOptions(lease=30))
    await jobs.add([job("long"), job("slow", seconds=0.1), job("breaks")])
    async with working(worker):
        await begun.wait()
        with anyio.fail_after(30):
            await jobs.cancel("ada", "long")
            states = {name: await ended(jobs, name) for name in ("long", "slow", "breaks")}
    assert states == {"long": "cancelled", "slow": "failed", "breaks": "failed"}
    assert tries == [1, 2, 3]
    assert "longer than 0.1 s" in ((await jobs.get("ada", "slow")).error or "")


async def test_a_worker_that_is_stopped_gives_its_jobs_back_without_counting_them(database: Database) -> None:
    jobs, begun = Jobs(database), asyncio.Event()

    async def perform(_: Claim) -> Outcome:
        begun.set()
        await asyncio.sleep(60)
        return Outcome()

    worker = Worker(database, "w", {"run": perform}, WorkerOptions(lease=30))
    await jobs.add([job("a")])
    async with working(worker):
        await begun.wait()
        assert await worker.stop(0) == 1
    left = await jobs.get("ada", "a")
    assert (left.state, left.attempts, left.worker) == ("queued", 0, "")


class working:  # noqa: N801  (a context manager)
    """A worker that works until the block is left."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._worker.run())

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def ended(jobs: Jobs, name: str) -> str:
    """How a job ended, once it has."""
    while not (found := await jobs.get("ada", name)).has_ended:  # noqa: ASYNC110  (the database has no event)
        await asyncio.sleep(0.02)
    return found.state
