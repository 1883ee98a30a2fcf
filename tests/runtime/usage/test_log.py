"""The log of usage: added up by user, day and model; written once; and kept when the database cannot be written."""

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.usage.entry import COUNTS, Usage
from runtime.usage.log import UsageLog

pytestmark = pytest.mark.anyio
ONE = Usage.of(input_tokens=10, output_tokens=2, cached_tokens=4, requests=1, turns=1, cost=Decimal("0.000012"))
UNPRICED = Usage.of(input_tokens=5, output_tokens=5, requests=1, runs=1)


class Clock:
    """A time that tests set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 26, 23, 59, 59, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def opened(folder: Path, clock: Clock | None = None) -> tuple[UsageLog, Database]:
    database = Database(f"sqlite+aiosqlite:///{folder / 'w.db'}", folder)
    return UsageLog(database, clock or Clock()), database


async def test_usage_is_added_up_by_day_model_and_user(tmp_path: Path) -> None:
    clock = Clock()
    log, database = opened(tmp_path, clock)
    log.record("ada", {"openai:a": ONE})
    log.record("ada", {"openai:a": ONE, "flows": UNPRICED})
    log.record("eve", {"openai:a": ONE})
    clock.now += timedelta(seconds=1)
    log.record("ada", {"openai:a": ONE})
    days = await log.sums("ada", "2026-11-26", "2026-11-27", ("day", "model"))
    users = await log.sums(None, "2026-11-26", "2026-11-26", ("user",))
    await database.aclose()
    assert [(one.day, one.model, one.usage.tokens, one.usage.cost) for one in days] == [
        ("2026-11-26", "flows", 10, None),
        ("2026-11-26", "openai:a", 24, 0.000024),
        ("2026-11-27", "openai:a", 12, 0.000012),
    ]
    assert [(one.user, one.usage.turns, one.usage.runs, one.usage.cost) for one in users] == [
        ("ada", 2, 1, None),
        ("eve", 1, 0, 0.000012),
    ]


async def test_a_day_ends_at_midnight_in_utc(tmp_path: Path) -> None:
    clock = Clock()
    log, database = opened(tmp_path, clock)
    log.record("ada", {"m": ONE})
    before = await log.today("ada")
    clock.now += timedelta(seconds=1)
    after = await log.today("ada")
    await database.aclose()
    assert (before.tokens, after) == (12, Usage())


async def test_another_process_adds_to_the_same_rows(tmp_path: Path) -> None:
    logs = [opened(tmp_path) for _ in range(3)]
    for log, _ in logs:
        for _ in range(20):
            log.record("ada", {"m": ONE})
    await asyncio.gather(*(log.aclose() for log, _ in logs))
    found = await logs[0][0].today("ada")
    for _, database in logs:
        await database.aclose()
    assert found == Usage(**{name: getattr(ONE, name) * 60 for name in COUNTS})


async def test_what_could_not_be_written_is_written_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, database = opened(tmp_path)

    async def gone() -> None:
        raise StoreUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(database, "open", gone)
        log.record("ada", {"m": ONE})
        await log.aclose()
        log.record("ada", {"m": ONE})
        with pytest.raises(StoreUnavailable):
            await log.today("ada")
    found = await log.today("ada")
    await database.aclose()
    assert found == ONE + ONE


async def test_what_could_not_be_written_is_tried_again_though_nothing_more_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SETTLE_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(f"runtime.usage.log.{name}", 0.01)
    log, database = opened(tmp_path)
    tried = asyncio.Event()
    opens = 0

    async def gone() -> None:
        nonlocal opens
        opens += 1
        if opens > 2:
            tried.set()
        raise StoreUnavailable

    other, beside = opened(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(database, "open", gone)
        log.record("ada", {"m": ONE})
        await tried.wait()
    with anyio.fail_after(30):
        while await other.today("ada") != ONE:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.01)
    await log.aclose()
    assert await other.today("ada") == ONE
    await database.aclose()
    await beside.aclose()


async def test_so_much_waits_for_a_database_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("runtime.usage.log.WAITING_LIMIT", 2)
    log, database = opened(tmp_path)
    for model in ("a", "b", "c", "a"):
        log.record("ada", {model: ONE})
    assert (await log.today("ada")).turns == 3
    await database.aclose()
    assert "too much of it waits" in caplog.text


COSTS = st.one_of(st.none(), st.decimals(min_value=0, max_value=100, places=9))
USAGES = st.builds(Usage.of, input_tokens=st.integers(0, 10**9), output_tokens=st.integers(0, 10**9), cost=COSTS)


@given(st.lists(USAGES, max_size=5))
def test_a_sum_with_an_unknown_part_is_unknown_and_otherwise_exact(parts: list[Usage]) -> None:
    total = sum(parts, Usage())
    unknown = any(part.cost is None for part in parts)
    assert (total.cost is None) == unknown
    assert total.dollars == sum((part.dollars for part in parts), Decimal(0))
    assert total.tokens == sum(part.tokens for part in parts)
