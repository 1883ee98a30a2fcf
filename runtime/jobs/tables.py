"""The tables of jobs, batches, schedules and triggers."""

from sqlalchemy import ColumnClause, Index, Label, UniqueConstraint, func, select

from runtime.database.base import Base, column, refers_to
from runtime.database.tables import FlowRow


class JobRow(Base):
    """A job.

    Attributes:
        number: names it among all, in the order of queueing.
        owner: the user.
        id: unique for its owner.
        kind: what it is.
        queue: where it waits.
        state: how it stands.
        rank: the lower ones of a queue go first.
        tag: its place among those of its rank: users take turns.
        flow: the stored flow that it is about, or empty.
        batch: the batch that it belongs to, or empty.
        position: its place in the batch.
        worker: who does it; empty while nobody has begun.
        attempts: how often it was begun.
        spared: how many of these are no tries, because their worker was only late; null for none.
        milliseconds: how long it may take.
        queued_at: when it was queued, on the database's clock, as all of these times.
        started_at: when it was begun last.
        ended_at: when it ended.
        stop_asked: whether it is to be ended.
        document: what it works on, encrypted.
        result: what it gave, encrypted.
        error: why it failed.
        run: the id of the run that has its result, or empty.
        tokens: how many tokens its models used.
        nano_dollars: what it cost.
    """

    __tablename__ = "jobs"

    number: ColumnClause[int] = column(primary_key=True, autoincrement=True)
    owner: ColumnClause[str]
    id: ColumnClause[str]
    kind: ColumnClause[str]
    queue: ColumnClause[str]
    state: ColumnClause[str]
    rank: ColumnClause[int]
    tag: ColumnClause[int]
    flow: ColumnClause[str] = column(info=refers_to("flows"))
    batch: ColumnClause[str]
    position: ColumnClause[int]
    worker: ColumnClause[str]
    attempts: ColumnClause[int]
    spared: ColumnClause[int | None]
    milliseconds: ColumnClause[int]
    queued_at: ColumnClause[str]
    started_at: ColumnClause[str | None]
    ended_at: ColumnClause[str | None]
    stop_asked: ColumnClause[bool]
    document: ColumnClause[str]
    result: ColumnClause[str | None]
    error: ColumnClause[str | None]
    run: ColumnClause[str]
    tokens: ColumnClause[int]
    nano_dollars: ColumnClause[int]

    __table_args__ = (
        UniqueConstraint("owner", "id"),
        Index(None, "queue", "state", "rank", "tag", "number"),
        Index(None, "owner", "queue", "state", "rank", "tag"),
        Index(None, "owner", "batch", "position"),
        Index(None, "state", "worker"),
        Index(None, "state", "ended_at"),
    )


class BatchRow(Base):
    """Many inputs for one flow.

    Attributes:
        number: the order of beginning.
        owner: the user.
        id: unique for its owner.
        flow: the stored flow.
        version: its version when the batch began.
        name: the flow's name then.
        total: how many inputs there are.
        reason: why it was ended early, or empty.
        ceiling_tokens: how many tokens it may use; null for any number.
        created_at: when it began.
        document: the flow and the options of its runs, encrypted.
    """

    __tablename__ = "batches"

    number: ColumnClause[int] = column(primary_key=True, autoincrement=True)
    owner: ColumnClause[str]
    id: ColumnClause[str]
    flow: ColumnClause[str] = column(info=refers_to("flows"))
    version: ColumnClause[int]
    name: ColumnClause[str]
    total: ColumnClause[int]
    reason: ColumnClause[str]
    ceiling_tokens: ColumnClause[int | None]
    created_at: ColumnClause[str]
    document: ColumnClause[str]

    __table_args__ = (UniqueConstraint("owner", "id"), Index(None, "owner", "number"))


class ScheduleRow(Base):
    """When a stored flow is run by itself: at times, or when its webhook is called.

    Attributes:
        owner: the user.
        id: unique for all.
        kind: `cron` or `webhook`.
        flow: the stored flow.
        cron: the expression; empty for a webhook.
        zone: the time zone of the expression.
        is_on: whether it is in use.
        digest: SHA-256 of the webhook's token, in hexadecimal; empty for a schedule.
        next_at: when it is due, ISO 8601 in UTC; null when it is not.
        last_at: when it ran last.
        last_job: the job that it queued last, or empty.
        created_at: when it was made.
        document: the input and who is told of failures, encrypted.
    """

    __tablename__ = "schedules"

    owner: ColumnClause[str]
    id: ColumnClause[str] = column(primary_key=True)
    kind: ColumnClause[str]
    flow: ColumnClause[str] = column(info=refers_to("flows"))
    cron: ColumnClause[str]
    zone: ColumnClause[str]
    is_on: ColumnClause[bool]
    digest: ColumnClause[str]
    next_at: ColumnClause[str | None]
    last_at: ColumnClause[str | None]
    last_job: ColumnClause[str]
    created_at: ColumnClause[str]
    document: ColumnClause[str]

    __table_args__ = (Index(None, "owner", "created_at"), Index(None, "next_at"))


def flow_name(row: type[JobRow | ScheduleRow]) -> Label[str]:
    """The name, as the column `name`, of the flow that a row is about: empty when it is not stored."""
    named = select(FlowRow.name).where(FlowRow.id == row.flow, FlowRow.owner == row.owner)
    return func.coalesce(named.scalar_subquery(), "").label("name")
