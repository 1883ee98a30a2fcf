"""When schedules are due, and that each time is queued once, whoever looks."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.database.database import Database
from runtime.jobs.errors import BadSchedule, ScheduleNotFound, WebhookRefused
from runtime.jobs.rows import Jobs
from runtime.jobs.schedules import Schedules, ScheduleUpdate, next_time
from tests.databases.stored import query

LONG_AGO = "2026-01-01T00:00:00.000+00:00"


@pytest.mark.parametrize(
    ("cron", "zone", "after", "due"),
    [
        ("0 7 * * 1-5", "UTC", "2026-11-27T07:00:00+00:00", "2026-11-30T07:00:00+00:00"),
        ("0 7 * * *", "Europe/Berlin", "2026-03-28T12:00:00+00:00", "2026-03-29T05:00:00+00:00"),
        ("0 7 * * *", "Europe/Berlin", "2026-10-24T12:00:00+00:00", "2026-10-25T06:00:00+00:00"),
        ("30 2 29 2 *", "UTC", "2026-01-01T00:00:00+00:00", "2028-02-29T02:30:00+00:00"),
    ],
)
def test_an_expression_is_due_by_the_clocks_of_its_zone(cron: str, zone: str, after: str, due: str) -> None:
    assert next_time(cron, zone, datetime.fromisoformat(after)) == datetime.fromisoformat(due)


@pytest.mark.parametrize(
    ("cron", "zone"),
    [("", "UTC"), ("* * * *", "UTC"), ("* * * * * *", "UTC"), ("61 * * * *", "UTC"), ("0 0 30 2 *", "UTC"),
     ("* * * * *", "Europe/Nowhere"), ("* * * * *", "../etc/passwd"), ("@daily", "UTC")],
)  # fmt: skip
def test_what_is_no_schedule_is_refused(cron: str, zone: str) -> None:
    with pytest.raises(BadSchedule):
        next_time(cron, zone, datetime.now(UTC))


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2030, 1, 1)),  # noqa: DTZ001  (it gets its zone below)
    st.integers(0, 59),
    st.integers(0, 23),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
)
def test_the_next_time_is_later_and_comes_within_two_days(moment: datetime, minute: int, hour: int, zone: str) -> None:
    after = moment.replace(tzinfo=UTC)
    due = next_time(f"{minute} {hour} * * *", zone, after)
    assert after < due <= after + timedelta(days=2)


@pytest.mark.anyio
async def test_a_time_that_has_passed_is_queued_once_though_several_look(database_url: str, tmp_path: Path) -> None:
    several = [Database(database_url, tmp_path) for _ in range(3)]
    schedules = [Schedules(database) for database in several]
    made = await schedules[0].add_cron("ada", "f", "0 7 * * *", "UTC", {"input_value": "hi"})
    assert made.next_at is not None
    assert await schedules[1].run_due() == 0
    query(database_url, "update schedules set next_at = :then", then=LONG_AGO)
    assert sum(await asyncio.gather(*(each.run_due() for each in schedules))) == 1
    jobs, total = await Jobs(several[0]).page("ada", 10)
    assert (total, jobs[0].kind, jobs[0].flow) == (1, "run", "f")
    found = await schedules[2].get("ada", made.id)
    assert (found.last_job, found.next_at) == (jobs[0].id, made.next_at)
    assert (await schedules[0].next_in() or 0) > 0
    assert (await schedules[0].change("ada", made.id, ScheduleUpdate(on=False))).next_at is None
    assert await schedules[0].next_in() is None
    with pytest.raises(ScheduleNotFound):
        await schedules[0].remove("bob", made.id)
    await schedules[0].remove("ada", made.id)
    assert await schedules[0].all("ada") == []
    for database in several:
        await database.aclose()


@pytest.mark.anyio
async def test_a_webhook_takes_its_own_token_alone_and_keeps_a_digest_of_it(database_url: str, tmp_path: Path) -> None:
    database = Database(database_url, tmp_path)
    schedules = Schedules(database)
    made, token = await schedules.add_webhook("ada", "f", {"input_value": "hi"})
    _, other = await schedules.add_webhook("bob", "g", {})
    assert token not in str(query(database_url, "select * from schedules"))
    for wrong in ("", "whk_", other, f"{token}x"):
        with pytest.raises(WebhookRefused):
            await schedules.call(made.id, wrong, {})
    with pytest.raises(WebhookRefused):
        await schedules.call("none", token, {})
    first = await schedules.call(made.id, token, {}, "one")
    assert await schedules.call(made.id, token, {}, "one") == first
    assert (await Jobs(database).page("ada", 10))[1] == 1
    await schedules.change("ada", made.id, ScheduleUpdate(on=False))
    with pytest.raises(WebhookRefused):
        await schedules.call(made.id, token, {})
    await database.aclose()
