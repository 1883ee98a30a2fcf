"""A job: what is to be done, for whom, and how it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from flows.document import Json, JsonObject
from runtime.sessions.run_entry import LoggedRun
from runtime.usage.entry import Usage, UsageKey

JobKind: TypeAlias = Literal["run", "item", "attempt", "turn"]
"""A run of a flow, one input of a batch, an attempt of an evaluation, or a turn of the assistant."""

JobState: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]
"""How a job stands. The last three are ends."""

QueueName: TypeAlias = Literal["turns", "runs", "evals"]
"""What waits together."""

ScheduleKind: TypeAlias = Literal["cron", "webhook"]
"""What runs a flow by itself: at times, or whenever its webhook is called."""

QUEUES: Final[tuple[QueueName, ...]] = get_args(QueueName)
"""The queues, the ones that people wait for first."""

ENDED: Final[tuple[JobState, ...]] = ("done", "failed", "cancelled")
"""The states of jobs that are over."""

RetriedState: TypeAlias = Literal["failed", "cancelled"]
"""How a job stands that can be queued again."""

RETRIED: Final[tuple[RetriedState, ...]] = get_args(RetriedState)

PERSON: Final = 0
"""The rank of a job that a person waits for."""

SCHEDULED: Final = 10
"""The rank of a job that a schedule has queued: nobody waits for it, but it has a time."""

BATCH: Final = 20
"""The rank of one of many jobs that nobody waits for."""

TRIES: Final = 3
"""How often a job is begun at most. One that ends its worker each time is not begun again."""

SPARED: Final = 6
"""How many attempts of a job are no tries at most, because their worker was only late: the job itself may halt it."""

TURN_TRIES: Final = 9
"""The same for a turn, which itself counts how often each of its steps is begun, and goes on from the last one."""

QUEUED_LIMIT: Final = 20_000
"""How many jobs of a user may wait."""

TIMEOUT_SECONDS: Final = 3_600.0
"""How long a job may take unless it says otherwise."""


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """A job that is to be queued.

    Attributes:
        id: unique for its owner; a second one of the same id is the first one.
        owner: whose it is.
        kind: what it is.
        queue: where it waits.
        rank: which of a queue's jobs go first: the lower ones.
        flow: the stored flow that it is about, or empty.
        batch: the batch that it belongs to, or empty.
        position: its place in the batch.
        seconds: how long it may take.
        given: what it works on.
    """

    id: str
    owner: str
    kind: JobKind
    queue: QueueName
    rank: int = PERSON
    flow: str = ""
    batch: str = ""
    position: int = 0
    seconds: float = TIMEOUT_SECONDS
    given: JsonObject = field(default_factory=dict[str, Json])


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job as it stands.

    Attributes:
        id: unique for its owner.
        owner: whose it is.
        kind: what it is.
        queue: where it waits, or waited.
        rank: which of a queue's jobs go first: the lower ones.
        state: how it stands.
        flow: the stored flow that it is about, or empty.
        batch: the batch that it belongs to, or empty.
        position: its place in the batch.
        worker: who does it, or did; empty while nobody has begun.
        attempts: how often it was begun.
        queued_at: when it was queued, ISO 8601 in UTC.
        started_at: when it was begun last; null while nobody has begun.
        ended_at: when it ended; null before.
        error: why it failed, in words for the user; null if it did not.
        run: the id of the run that has its result, or empty.
        name: the name of the flow now; empty when it is about none that is stored.
    """

    id: str
    owner: str
    kind: JobKind
    queue: QueueName
    rank: int
    state: JobState
    flow: str
    batch: str
    position: int
    worker: str
    attempts: int
    queued_at: str
    started_at: str | None
    ended_at: str | None
    error: str | None
    run: str
    name: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state in ENDED


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A job that a worker has begun.

    Attributes:
        number: names it among all.
        attempt: which of its attempts this is: what another attempt says is refused.
        spared: how many of these are no tries.
        id: unique for its owner.
        owner: whose it is.
        kind: what it is.
        flow: the stored flow that it is about, or empty.
        batch: the batch that it belongs to, or empty.
        position: its place in the batch.
        seconds: how long it may take.
        given: what it works on.
    """

    number: int
    attempt: int
    id: str
    owner: str
    kind: JobKind
    flow: str
    batch: str
    position: int
    seconds: float
    given: JsonObject
    spared: int = 0


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a job.

    Attributes:
        result: what it gave.
        error: why it failed, in words for the user; None if it did not.
        run: the run that has its result, which is stored with the outcome or not at all.
        nano_dollars: what it cost, as far as that is known.
        tokens: how many tokens its models read and wrote.
        used: what it counts as used, which is stored with the outcome or not at all.
    """

    result: JsonObject | None = None
    error: str | None = None
    run: LoggedRun | None = None
    nano_dollars: int = 0
    tokens: int = 0
    used: Mapping[UsageKey, Usage] = field(default_factory=dict[UsageKey, Usage])
