"""A worker: begins the jobs that are next, as many at once as it has places, and says what came of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from runtime.database.backends.outage import Outage
from runtime.database.backends.urls import is_sqlite
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.durable.leases import BEAT_SECONDS, LEASE_SECONDS
from runtime.jobs.batches import Batches
from runtime.jobs.claims import POISON, Claims
from runtime.jobs.job import QUEUES, TRIES, Claim, JobKind, Outcome, QueueName
from runtime.jobs.rows import Jobs
from runtime.jobs.wake import Listener
from runtime.telemetry import log_event

log = logging.getLogger(__name__)
_T = TypeVar("_T")

LOOK_SECONDS: Final = 0.2
"""How often an idle worker looks for jobs that nothing tells it of."""

LISTENING_SECONDS: Final = 10.0
"""How often one looks that is told."""

LIMITED_SECONDS: Final = 2.0
"""The same where limits hold: nothing tells that another worker's job has ended, so that one more may begin."""

CHECK_SECONDS: Final = 0.3
"""How often a worker looks whether it is to end one of its jobs, if nothing tells it."""

PRUNE_SECONDS: Final = 600.0
"""How often jobs that are too old are deleted."""

KEPT_SECONDS: Final = 7 * 86_400.0
"""How long jobs that have ended are kept."""

END_SECONDS: Final = 5.0
"""How long jobs may take to end that are given back."""

STOP_ASKED: Final = "stop asked"
"""The message with which work is cancelled that someone has asked to end; other work goes on elsewhere."""

STORE_SECONDS: Final = 0.2
"""How long a worker waits before it tries again to say what came of a job."""


class Accepted(Protocol):
    """Is told of each outcome that was stored."""

    async def __call__(self, claim: Claim, outcome: Outcome) -> None:
        """Do what follows from an outcome, once."""
        ...


_Returned: TypeAlias = Literal["again", "elsewhere"]
"""How a job is given back: as one that was tried, or as one that this worker could not do for a reason of its own."""

Perform: TypeAlias = Callable[[Claim], Awaitable[Outcome]]
"""Does a job; it is cancelled when the job is to be ended. A job may be done again when its worker dies."""


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """How a worker works.

    Attributes:
        queues: the queues that it takes jobs from.
        places: how many jobs it does at once.
        of_user: how many jobs of a user may go on at once, on all workers; None for any number.
        in_all: how many jobs may go on at once, on all workers; None for any number.
        kept: for how many seconds jobs that have ended are kept.
        lease: after how many seconds without a sign of life a worker is gone.
        beat: how many seconds lie between its signs of life.
    """

    queues: Sequence[QueueName] = QUEUES
    places: int = 4
    of_user: int | None = None
    in_all: int | None = None
    kept: float = KEPT_SECONDS
    lease: float = LEASE_SECONDS
    beat: float = BEAT_SECONDS


@dataclass
class _Going:
    """A job that goes on here.

    Attributes:
        claim: the job.
        task: does it.
        is_stopped: whether someone has asked to end it.
        is_over: whether its work has ended, and only what came of it is stored still.
    """

    claim: Claim
    task: asyncio.Task[None]
    is_stopped: bool = False
    is_over: bool = False


class Worker:
    """Does jobs until it is stopped.

    Args:
        database: where the jobs are stored.
        name: names it among all, the same again after a restart.
        perform: does jobs, by kind.
        options: how it works.
        accepted: is told of each outcome that was stored.
    """

    def __init__(
        self,
        database: Database,
        name: str,
        perform: Mapping[JobKind, Perform],
        options: WorkerOptions | None = None,
        accepted: Accepted | None = None,
    ) -> None:
        self._database = database
        self.name = name
        self._perform = perform
        self._options = options or WorkerOptions()
        self._accepted = accepted
        self._claims = Claims(
            database,
            name,
            of_user=self._options.of_user,
            in_all=self._options.in_all,
            lease=self._options.lease,
        )
        self._going: dict[int, _Going] = {}
        self._woken = asyncio.Event()
        self._check_now = asyncio.Event()
        self._is_stopping = False
        self._waited = asyncio.Event()
        self._taken = asyncio.Event()
        self._taken.set()
        self._listener = None if is_sqlite(database.url) else Listener(database.url, self._hear)

    @property
    def under_way(self) -> int:
        """How many jobs go on here."""
        return len(self._going)

    def wake(self) -> None:
        """Look at once for jobs that wait, and for those that are to be ended."""
        self._woken.set()
        self._check_now.set()

    def _hear(self, notice: str) -> None:
        """Look for what a notice says: it names the queue in which something waits, or is of jobs that go on."""
        if notice not in QUEUES:
            self.wake()
        elif notice in self._options.queues:
            self._woken.set()

    async def run(self) -> None:
        """Work until it is cancelled, or was stopped.

        Jobs that go on then are given back to their queue, without counting as tried.
        """
        self._taken.clear()
        await self._until_stored(self._claims.give_back_own)
        await self._until_stored(lambda: self._claims.beat(self._options.queues))
        beside = [asyncio.create_task(each(), name="worker") for each in (self._beat, self._check, self._prune)]
        if self._listener is not None:
            beside.append(asyncio.create_task(self._listener.run(), name="worker-listening"))
        try:
            await self._take()
            self._taken.set()
            await self._waited.wait()
        finally:
            self._taken.set()
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            await self._give_back()

    def take_no_more(self) -> None:
        """Begin nothing more; what goes on here goes on."""
        self._is_stopping = True
        self.wake()

    async def stop(self, seconds: float) -> int:
        """Begin nothing more, and wait for what goes on.

        Args:
            seconds: how long at most.

        Returns:
            How many jobs have not ended, which `run` gives back before it ends.
        """
        self.take_no_more()
        await _within(self._taken, seconds)  # jobs may be on their way here, which the database has noted already
        if self._going:
            await asyncio.wait([going.task for going in self._going.values()], timeout=seconds)
        self._waited.set()
        return len(self._going)

    async def _take(self) -> None:
        """Begin jobs as places are free."""
        outage = Outage(log, "jobs.claiming_failed")
        while not self._is_stopping:
            self._woken.clear()
            free = self._options.places - len(self._going)
            claimed: list[Claim] = []
            if free > 0:
                try:
                    claimed = await self._claims.claim(self._options.queues, free)
                    outage.is_over()
                except StoreUnavailable as failure:
                    outage.goes_on(failure)
            for claim in claimed:
                self._begin(claim)
            if not claimed:
                await _within(self._woken, self._pause)

    @property
    def _pause(self) -> float:
        """How many seconds pass before it is looked for jobs though nothing tells of any."""
        if self._listener is None or not self._listener.is_listening:
            return LOOK_SECONDS
        is_limited = self._options.of_user is not None or self._options.in_all is not None
        return LIMITED_SECONDS if is_limited else LISTENING_SECONDS

    def _begin(self, claim: Claim) -> None:
        task = asyncio.create_task(self._do(claim), name=f"job-{claim.id}")
        self._going[claim.number] = _Going(claim, task)
        task.add_done_callback(lambda _: self._ended(claim))

    def _ended(self, claim: Claim) -> None:
        self._going.pop(claim.number, None)
        self._woken.set()

    async def _do(self, claim: Claim) -> None:
        """Do a job, and store what came of it."""
        going = self._going[claim.number]
        log_event("job.started", job=claim.id, kind=claim.kind, attempt=claim.attempt)
        try:
            outcome = await self._outcome(claim)
            going.is_over = True
        except asyncio.CancelledError:
            going.is_over = True
            if not going.is_stopped:
                raise  # it is given back, or another worker has it
            await self._until_stored(lambda: self._claims.cancelled(claim))
            log_event("job.ended", job=claim.id, state="cancelled")
            return
        if outcome == "again":
            await self._until_stored(lambda: self._claims.give_back([claim], counted=True))
            return
        if outcome == "elsewhere":
            await self._until_stored(lambda: self._claims.leave(claim))
            log_event("job.ended", job=claim.id, state="left")
            return
        kept = await self._until_stored(lambda: self._claims.finish(claim, outcome))
        state = "refused" if not kept else "done" if outcome.error is None else "failed"
        log_event("job.ended", job=claim.id, state=state)
        if not kept:
            await self._until_stored(lambda: self._claims.spare([claim]))
        if kept:
            await self._follow_up(claim, outcome)

    async def _follow_up(self, claim: Claim, outcome: Outcome) -> None:
        """Do what follows from an outcome that was stored."""
        if self._accepted is not None:
            try:
                await self._accepted(claim, outcome)
            except Exception:
                log.exception("job.not_followed_up")

    async def _outcome(self, claim: Claim) -> Outcome | _Returned:
        """What came of a job, or how it is given back."""
        perform = self._perform.get(claim.kind)
        if perform is None:
            return Outcome(error=f"No worker of this kind knows how to do a job of the kind {claim.kind!r}.")
        limit = asyncio.timeout(claim.seconds)
        try:
            async with limit:
                return await perform(claim)
        except TimeoutError:
            if not limit.expired():
                log.exception("job.failed")
                return self._tried(claim)
            return Outcome(error=f"The job took longer than {claim.seconds:g} s. Give it more time, or less to do.")
        except Exception as failure:
            if isinstance(failure, StoreUnavailable) or isinstance(failure.__cause__, StoreUnavailable):
                log.warning("job.not_stored job=%s", claim.id, exc_info=failure)
                return "elsewhere"  # the database is away, or the key: no fault of the job
            log.exception("job.failed")
            return self._tried(claim)

    @staticmethod
    def _tried(claim: Claim) -> Outcome | _Returned:
        over = Outcome(error="Something went wrong inside the worker each time it was tried; its log says what.")
        return "again" if claim.attempt - claim.spared < TRIES else over

    async def _beat(self) -> None:
        """Give signs of life, and give back what the dead have left.

        After a time in which nobody could give any, the others get time to give theirs.
        """
        loop, trusts_from, outage = asyncio.get_running_loop(), 0.0, Outage(log, "jobs.heartbeat_failed")
        while True:
            await asyncio.sleep(self._options.beat)
            try:
                given = await self._claims.beat(reaps=loop.time() >= trusts_from)
                outage.is_over()
            except StoreUnavailable as failure:
                outage.goes_on(failure)
                trusts_from = loop.time() + self._options.lease
                continue
            if given:
                log_event("jobs.given_back", logging.WARNING, count=given)
                self.wake()
            for claim in await self._claims.given_up():
                await self._follow_up(claim, Outcome(error=POISON))

    async def _check(self) -> None:
        """End the jobs here that someone asks to end, and those that another worker has been given meanwhile."""
        outage = Outage(log, "jobs.checking_failed")
        while True:
            is_told = self._listener is not None and self._listener.is_listening
            await _within(self._check_now, self._options.beat if is_told else CHECK_SECONDS)
            self._check_now.clear()
            here = list(self._going.values())
            if not here:
                continue
            try:
                left = await self._claims.left([going.claim for going in here])
                outage.is_over()
            except StoreUnavailable as failure:
                outage.goes_on(failure)
                continue
            lost: list[Claim] = []
            for going in here:
                is_asked = left.get(going.claim.number)
                if is_asked is not False and not going.is_over:
                    going.is_stopped = bool(is_asked)
                    going.task.cancel(STOP_ASKED if going.is_stopped else None)
                    if is_asked is None:
                        lost.append(going.claim)
            if lost:
                await self._until_stored(partial(self._claims.spare, lost))

    async def _prune(self) -> None:
        """Delete what is too old."""
        while True:
            try:
                await Jobs(self._database).remove_ended(self._options.kept)
                await Batches(self._database).remove_ended(self._options.kept)
            except StoreUnavailable:
                log.warning("jobs.pruning_failed")
            await asyncio.sleep(PRUNE_SECONDS)

    async def _give_back(self) -> None:
        """Give back the jobs that go on here, once their work has ended."""
        here = list(self._going.values())
        for going in here:
            if not going.is_over:
                going.task.cancel()
        if here:
            await asyncio.wait([going.task for going in here], timeout=END_SECONDS)
            try:
                await self._claims.give_back([going.claim for going in here], counted=False)
            except StoreUnavailable:
                log.warning("jobs.giving_back_failed")  # they are when this worker has been gone for a lease

    async def _until_stored(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """What storing something gives, once the database takes it."""
        outage = Outage(log, "jobs.storing_failed")
        while True:
            try:
                stored = await work()
            except StoreUnavailable as failure:
                outage.goes_on(failure)
                await asyncio.sleep(STORE_SECONDS)
            else:
                outage.is_over()
                return stored


async def _within(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most so long."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
