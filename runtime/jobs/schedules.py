"""What runs stored flows by itself: a cron expression, or a webhook with a token of its own."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, RowMapping, and_, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from flows.document import Json, JsonObject
from runtime.database.backends.clock import DatabaseTime
from runtime.database.database import Database
from runtime.jobs.content import KEY, digest_of
from runtime.jobs.errors import BadSchedule, IdReused, ScheduleNotFound, WebhookRefused
from runtime.jobs.job import PERSON, QUEUED_LIMIT, SCHEDULED, NewJob, ScheduleKind
from runtime.jobs.rows import Jobs
from runtime.jobs.tables import JobRow, ScheduleRow, flow_name

TOKEN: Final = "whk_"  # noqa: S105  (the beginning of one)
"""What the token of a webhook begins with."""

LEAST_SECONDS: Final = 60
"""How far apart the times of a schedule are at least."""

WAIT_SECONDS: Final = 600.0
"""How long a run may wait for the engine of its worker, beside its own time."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """When a stored flow is run by itself.

    Attributes:
        id: unique for all.
        kind: at times, or whenever its webhook is called.
        flow: the stored flow.
        name: its name now; empty when it is not stored any more.
        cron: the expression; empty for a webhook.
        zone: the time zone of the expression.
        is_on: whether it is in use.
        next_at: when it is due, ISO 8601 in UTC; null when it is not.
        last_at: when it ran last; null before.
        last_job: the job that it queued last, or empty.
        created_at: when it was made.
        input_value: the text that its runs type into the chat input; null for the flow's own values.
        notify: the address that gets a POST when a run has failed, or empty.
    """

    id: str
    kind: ScheduleKind
    flow: str
    name: str
    cron: str
    zone: str
    is_on: bool
    next_at: str | None
    last_at: str | None
    last_job: str
    created_at: str
    input_value: str | None = None
    notify: str = ""


@dataclass(frozen=True, kw_only=True)
class ScheduleUpdate:
    """What becomes of a schedule or webhook; None leaves it as it is.

    Attributes:
        on: whether it is used.
        cron: the expression.
        zone: its time zone.
        given: what its runs are given, such as `input_value` and `notify`: what is None in it is removed.
    """

    on: bool | None = None
    cron: str | None = None
    zone: str | None = None
    given: JsonObject = field(default_factory=dict[str, Json])


_FIELDS: Final = (
    ScheduleRow.id, ScheduleRow.kind, ScheduleRow.flow, ScheduleRow.cron, ScheduleRow.zone, ScheduleRow.is_on,
    ScheduleRow.next_at, ScheduleRow.last_at, ScheduleRow.last_job, ScheduleRow.created_at,
    flow_name(ScheduleRow),
)  # fmt: skip


class Schedules:
    """Schedules and webhooks by owner. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        limit: how many jobs of a user may wait.
    """

    def __init__(self, database: Database, limit: int = QUEUED_LIMIT) -> None:
        self._database = database
        self._jobs = Jobs(database, limit)

    async def add_cron(self, owner: str, flow: str, cron: str, zone: str, given: JsonObject) -> Schedule:
        """Run a flow at the times of a cron expression.

        Args:
            owner: whose it is.
            flow: the stored flow.
            cron: five fields: minute, hour, day of the month, month, day of the week.
            zone: the time zone of the expression, such as `Europe/Berlin`.
            given: what each run's job works on.

        Raises:
            BadSchedule: the expression or the zone cannot be read, or it is due too often.
            SecretKeyUnavailable: what the runs are given cannot be encrypted.
        """
        async with self._database.reading() as connection:
            now = _moment((await connection.execute(select(DatabaseTime()))).scalar_one())
        due = next_time(cron, zone, now)
        await self._check_distance(cron, zone, due)
        return await self._add(owner, "cron", flow, given, cron=cron, zone=zone, next_at=_text(due))

    async def add_webhook(self, owner: str, flow: str, given: JsonObject) -> tuple[Schedule, str]:
        """Run a flow whenever its webhook is called; returns it with its token, which is stored as a digest alone."""
        token = TOKEN + secrets.token_urlsafe(32)
        return await self._add(owner, "webhook", flow, given, digest=_digest(token)), token

    async def all(self, owner: str, flow: str | None = None) -> list[Schedule]:
        """The schedules and webhooks of an owner, the latest first; of one flow.

        Raises:
            SecretKeyUnavailable: what their runs are given was encrypted with another key.
        """
        mine = ScheduleRow.owner == owner
        if flow is not None:
            mine = and_(mine, ScheduleRow.flow == flow)
        wanted = select(ScheduleRow.document, *_FIELDS).where(mine)
        latest = wanted.order_by(ScheduleRow.created_at.desc(), ScheduleRow.id)
        async with self._database.reading() as connection:
            rows = (await connection.execute(latest)).mappings().all()
        return await asyncio.to_thread(lambda: [self._schedule(row) for row in rows])

    async def get(self, owner: str, schedule: str) -> Schedule:
        """A schedule or webhook.

        Raises:
            ScheduleNotFound: there is none of this id.
            SecretKeyUnavailable: what its runs are given was encrypted with another key.
        """
        wanted = select(ScheduleRow.document, *_FIELDS).where(_is(owner, schedule))
        async with self._database.reading() as connection:
            row = (await connection.execute(wanted)).mappings().one_or_none()
        if row is None:
            raise ScheduleNotFound(schedule)
        return await asyncio.to_thread(self._schedule, row)

    async def change(self, owner: str, schedule: str, change: ScheduleUpdate) -> Schedule:
        """Change a schedule or webhook, which keeps its id and its token; a time that has passed is not made up for.

        Args:
            owner: whose it is.
            schedule: its id.
            change: what becomes of it.

        Raises:
            ScheduleNotFound: there is none of this id.
            BadSchedule: the expression or the zone cannot be read, it is due too often, or it is a webhook.
            SecretKeyUnavailable: what its runs are given was encrypted with another key.
        """
        found = await self.get(owner, schedule)
        if found.kind == "webhook" and (change.cron is not None or change.zone is not None):
            raise BadSchedule("A webhook has no times.", "Leave `cron` and `zone` out.")
        cron, zone = change.cron or found.cron, change.zone or found.zone
        is_on = found.is_on if change.on is None else change.on
        values: dict[str, Any] = {"cron": cron, "zone": zone, "is_on": is_on}
        async with self._database.writing(owner) as connection:
            if found.kind == "cron" and (change.cron, change.zone, change.on) != (None, None, None):
                now = _moment((await connection.execute(select(DatabaseTime()))).scalar_one())
                due = next_time(cron, zone, now)
                await self._check_distance(cron, zone, due)
                values["next_at"] = _text(due) if is_on else None
            if change.given:
                wanted = select(ScheduleRow.document).where(_is(owner, schedule))
                stored = await self._opened((await connection.execute(wanted)).scalar_one())
                merged = {key: one for key, one in {**stored, **change.given}.items() if one is not None}
                values["document"] = await self._sealed(merged)
            await connection.execute(update(ScheduleRow).where(_is(owner, schedule)).values(values))
        return await self.get(owner, schedule)

    async def remove(self, owner: str, schedule: str) -> None:
        """Delete a schedule or webhook.

        Raises:
            ScheduleNotFound: there is none of this id.
        """
        async with self._database.writing() as connection:
            if not (await connection.execute(delete(ScheduleRow).where(_is(owner, schedule)))).rowcount:
                raise ScheduleNotFound(schedule)

    async def run_due(self) -> int:
        """Queue the runs that are due; of several processes that do so at once, one queues each. Returns how many.

        A time that has passed while nothing ran is made up for once.

        Raises:
            SecretKeyUnavailable: what a run is given was encrypted with another key.
        """
        due = and_(ScheduleRow.is_on, ScheduleRow.next_at <= DatabaseTime())
        async with self._database.reading() as connection:
            wanted = select(ScheduleRow.owner, ScheduleRow.document, DatabaseTime().label("now"), *_FIELDS)
            rows = (await connection.execute(wanted.where(due))).all()
        count = 0
        for row in rows:
            following = _text(next_time(row.cron, row.zone, _moment(row.now)))
            async with self._database.writing(row.owner) as connection:
                mine = and_(ScheduleRow.id == row.id, ScheduleRow.next_at == row.next_at)
                job = f"{row.id}-{row.next_at}"
                fired = update(ScheduleRow).where(mine).values(next_at=following, last_at=DatabaseTime(), last_job=job)
                if (await connection.execute(fired)).rowcount:
                    await self._queue(connection, row, job, {}, rank=SCHEDULED)
                    count += 1
        return count

    async def next_in(self) -> float | None:
        """In how many seconds the next run is due; None when none is."""
        wanted = select(func.min(ScheduleRow.next_at), DatabaseTime()).where(ScheduleRow.is_on)
        async with self._database.reading() as connection:
            first, now = (await connection.execute(wanted)).one()
        return None if first is None else max(0.0, (_moment(first) - _moment(now)).total_seconds())

    async def call(self, schedule: str, token: str, given: JsonObject, job: str | None = None) -> str:
        """Queue a run because a webhook was called; returns the job's id.

        Args:
            schedule: the webhook.
            token: its token.
            given: what the call says beside what the webhook was made with.
            job: names the call: a second one of the same name is the first one. None for a new one.

        Raises:
            IdReused: the name was used for a call that said something else.
            WebhookRefused: there is no such webhook in use, or its token is another one.
            QueueFull: too many jobs of its owner wait.
            SecretKeyUnavailable: what the run is given was encrypted with another key.
        """
        wanted = select(ScheduleRow.owner, ScheduleRow.document, ScheduleRow.digest, *_FIELDS)
        async with self._database.reading() as connection:
            hook = and_(ScheduleRow.id == schedule, ScheduleRow.kind == "webhook")
            row = (await connection.execute(wanted.where(hook))).one_or_none()
        known = "" if row is None else row.digest
        if not secrets.compare_digest(known, _digest(token)) or row is None or not row.is_on:
            raise WebhookRefused
        name, content = f"{row.id}-{job or uuid4().hex}", digest_of(given)
        async with self._database.writing(row.owner) as connection:
            if await self._queue(connection, row, name, {**given, KEY: content}, rank=PERSON):
                called = update(ScheduleRow).where(ScheduleRow.id == schedule)
                await connection.execute(called.values(last_at=DatabaseTime(), last_job=name))
            elif await self._content(connection, row.owner, name) not in (None, content):
                raise IdReused("call", job or name, "one with another body")
        return name

    async def _content(self, connection: AsyncConnection, owner: str, job: str) -> str | None:
        """The digest of what the call said that has queued a job; None when none was noted."""
        wanted = select(JobRow.document).where(JobRow.owner == owner, JobRow.id == job)
        document = (await connection.execute(wanted)).scalar_one()
        return (await self._opened(document)).get(KEY)

    async def _queue(self, connection: AsyncConnection, row: Any, job: str, given: JsonObject, *, rank: int) -> int:
        """Queue a run; returns how many were queued, which is none where one of this name was."""
        stored = await self._opened(row.document)
        document = {**stored, **given, "schedule": row.id}
        seconds = float(stored.get("timeout", 60.0)) + WAIT_SECONDS
        return await self._jobs.add_within(
            connection,
            [
                NewJob(
                    id=job,
                    owner=row.owner,
                    kind="run",
                    queue="runs",
                    rank=rank,
                    flow=row.flow,
                    seconds=seconds,
                    given=document,
                )
            ],
        )

    async def _add(
        self,
        owner: str,
        kind: ScheduleKind,
        flow: str,
        given: JsonObject,
        *,
        cron: str = "",
        zone: str = "",
        digest: str = "",
        next_at: str | None = None,
    ) -> Schedule:
        document = await self._sealed(given)
        made = uuid4().hex
        values = {
            "owner": owner, "id": made, "kind": kind, "flow": flow, "cron": cron, "zone": zone, "is_on": True,
            "digest": digest, "next_at": next_at, "last_job": "", "created_at": DatabaseTime(), "document": document,
        }  # fmt: skip
        async with self._database.writing(owner) as connection:
            await connection.execute(insert(ScheduleRow).values(values))
        return await self.get(owner, made)

    def _schedule(self, row: RowMapping) -> Schedule:
        columns: dict[str, Any] = {str(name): value for name, value in row.items()}
        given = json.loads(self._database.documents.unseal_text(columns.pop("document")))
        return Schedule(**columns, input_value=given.get("input_value"), notify=given.get("notify") or "")

    async def _opened(self, document: str) -> dict[str, Any]:
        return json.loads(await asyncio.to_thread(self._database.documents.unseal_text, document))

    async def _sealed(self, given: JsonObject) -> str:
        text = json.dumps(given, ensure_ascii=False)
        return await asyncio.to_thread(self._database.documents.seal_text, text)

    @staticmethod
    async def _check_distance(cron: str, zone: str, due: datetime) -> None:
        following = next_time(cron, zone, due)
        if (following - due).total_seconds() < LEAST_SECONDS:
            raise BadSchedule("The expression is due more often than once a minute.", "Name a minute: */5 * * * *")


def next_time(cron: str, zone: str, after: datetime) -> datetime:
    """When a cron expression is due next, in UTC.

    Args:
        cron: five fields: minute, hour, day of the month, month, day of the week.
        zone: the time zone that they are of.
        after: the time after which it is.

    Raises:
        BadSchedule: the expression or the zone cannot be read, or it is never due.
    """
    try:
        from croniter import CroniterError, croniter
    except ImportError:
        message = "Schedules need the extra `durable`, which is not installed."
        raise BadSchedule(message, "Install it: uv tool install 'wirewright[durable]'") from None
    try:
        there = ZoneInfo(zone)
    except (ValueError, OSError, LookupError):
        fix = "Name one such as Europe/Berlin, or UTC."
        raise BadSchedule(f"There is no time zone {zone[:60]!r}.", fix, "$.zone") from None
    fix = "Write five fields, such as `0 7 * * 1-5`: minute, hour, day of the month, month, day of the week."
    if len(cron.split()) != 5:
        raise BadSchedule(f"{cron[:60]!r} does not have the five fields of a cron expression.", fix)
    try:
        found: Any = croniter(cron, after.astimezone(there)).get_next(datetime)
    except (CroniterError, ValueError, OverflowError):
        raise BadSchedule(f"{cron[:60]!r} is not a cron expression, or is never due.", fix) from None
    due: datetime = found.astimezone(UTC)
    return due if due > after else after + timedelta(minutes=1)


def _is(owner: str, schedule: str) -> ColumnElement[bool]:
    return and_(ScheduleRow.owner == owner, ScheduleRow.id == schedule)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
