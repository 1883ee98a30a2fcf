"""The log of runs: bounded, apart by user, and no reason for a run to fail."""

import asyncio
import json
import logging
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from runtime.database.database import Database
from runtime.results import RunError, RunResult
from runtime.sessions.run_entry import TEXT_LIMIT, RunEntry
from runtime.sessions.run_values import LIMIT, kept_values
from runtime.sessions.runs import KEPT, MORE, RunLog
from tests.shared.stand_ins import ran

pytestmark = pytest.mark.anyio


@pytest.fixture
async def runs(database_url: str) -> AsyncGenerator[RunLog]:
    database = Database(database_url)
    runs = RunLog(database)
    yield runs
    await runs.aclose()
    await database.aclose()


def entry(number: int = 0, **more: str) -> RunEntry:
    return RunEntry(
        id=more.get("id", f"r{number}"), flow="f", name="Echo", source="http", input="hi", output=f"o{number}",
        error=None, seconds=0.5, input_tokens=1, output_tokens=2,
    )  # fmt: skip


async def test_only_the_latest_runs_of_each_user_are_kept(runs: RunLog) -> None:
    runs.record("bob", entry(id="bobs"))
    for number in range(KEPT + 3):
        runs.record("ada", entry(number))
    latest, total = await runs.entries("ada", 2)
    assert ([run.id for run in latest], total) == ([f"r{KEPT + 2}", f"r{KEPT + 1}"], KEPT)
    assert await runs.get("ada", "r0") is None
    assert await runs.get("ada", "bobs") is None
    found = await runs.get("bob", "bobs")
    assert found is not None
    assert (found.id, found.output, found.seconds, found.input_tokens) == ("bobs", "o0", 0.5, 1)


async def test_what_is_too_old_is_dropped_several_at_a_time_and_never_seen(tmp_path: Path) -> None:
    database, reader = (Database(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}") for _ in range(2))
    runs, others = RunLog(database), RunLog(reader)
    try:
        for number in range(KEPT + 2 * MORE):
            runs.record("ada", entry(number))
            if number >= KEPT - 2:
                await runs.aclose()
            rows = (
                sqlite3.connect(tmp_path / "w.db").execute("SELECT count(*) FROM runs").fetchone()[0]
                if number >= KEPT
                else 0
            )
            assert rows <= KEPT + MORE
        assert (await others.entries("ada", 1))[1] == KEPT
        assert await others.get("ada", f"r{2 * MORE - 1}") is None
        assert await others.get("ada", f"r{2 * MORE}") is not None
    finally:
        await database.aclose()
        await reader.aclose()


async def test_runs_are_erased_one_by_one_or_all(runs: RunLog) -> None:
    for number in range(3):
        runs.record("ada", entry(number))
    runs.record("bob", entry(9))
    assert await runs.remove("ada", "r1") == 1
    assert await runs.remove("ada", "r1") == 0
    assert await runs.remove("ada") == 2
    assert (await runs.entries("bob", 10))[1] == 1


async def test_a_run_that_goes_on_is_noted_as_seen_until_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.sessions.runs.SEEN_SECONDS", 0.01)
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}")
    runs = RunLog(database)
    begun = RunEntry.begun("r1", "hi", flow="f", name="Echo", source="http")

    def seen() -> str | None:
        with closing(sqlite3.connect(tmp_path / "w.db")) as file:
            found: str | None = file.execute("select seen_at from runs").fetchone()[0]
            return found

    try:
        await runs.store_begun("ada", begun)
        while seen() == begun.at:  # noqa: ASYNC110  (the note is in the database alone)
            await asyncio.sleep(0.01)
        runs.record("ada", begun.ended(ran("done")), ran("done"))
        entries, total = await runs.entries("ada", 10)
        assert ([run.state for run in entries], total, seen()) == (["succeeded"], 1, None)
    finally:
        await runs.aclose()
        await database.aclose()


async def test_runs_that_end_before_they_were_stored_are_stored_together(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}")
    runs, statements = RunLog(database), list[str]()
    await runs.entries("ada", 1)

    @event.listens_for((await database.open()).sync_engine, "before_cursor_execute")
    def note(*given: Any) -> None:
        statements.append(given[2].split()[0])

    try:
        for number in range(5):
            begun = RunEntry.begun(f"r{number}", "hi", flow="f", name="Echo", source="http")
            runs.begin("ada", begun)
            runs.record("ada", begun.ended(ran("done")), ran("done"))
        await runs.aclose()
        assert statements == ["INSERT"]
        assert [run.state for run in (await runs.entries("ada", 10))[0]] == ["succeeded"] * 5
    finally:
        await database.aclose()


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["begin", "end", "read"]), st.integers(0, 3)), max_size=20))
def test_each_run_is_listed_once_in_its_last_state_however_its_notes_are_stored(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    async def play() -> None:
        database = Database(f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('runs') / 'w.db'}")
        runs, states = RunLog(database), dict[str, str]()
        try:
            for step, number in steps:
                begun = RunEntry.begun(f"r{number}", "hi", flow="f", name="Echo", source="http")
                if step == "begin" and begun.id not in states:
                    runs.begin("ada", begun)
                    states[begun.id] = "running"
                elif step == "end" and states.get(begun.id) == "running":
                    runs.record("ada", begun.ended(ran("done")), ran("done"))
                    states[begun.id] = "succeeded"
                elif step == "read":
                    assert {run.id: run.state for run in (await runs.entries("ada", 10))[0]} == states
            entries, total = await runs.entries("ada", 10)
            assert ({run.id: run.state for run in entries}, total) == (states, len(states))
        finally:
            await runs.aclose()
            await database.aclose()

    asyncio.run(play())


async def test_runs_are_kept_for_the_time_that_is_set(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}")
    ended = [datetime.now(UTC) - timedelta(days=days) for days in (0, 1, 3)]
    try:
        whole = RunLog(database)
        for number, at in enumerate(ended):
            whole.record("ada", replace(entry(number), at=at.isoformat()))
        assert (await whole.entries("ada", 10))[1] == 3
        latest, total = await RunLog(database, days=2).entries("ada", 10)
        assert ([run.id for run in latest], total) == (["r1", "r0"], 2)
    finally:
        await database.aclose()


@given(st.recursive(st.text() | st.integers() | st.none(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)))
def test_what_is_kept_of_a_result_can_be_read_again(value: Any) -> None:
    result = replace(ran("done"), nodes={"a": value})
    kept = json.loads(kept_values(result))
    assert kept.pop("cut") is False
    read = RunResult.from_json(kept)
    assert read.metrics == result.metrics
    assert (read.output, list(read.nodes)) == ("done", ["a"])


def test_a_long_result_is_cut_and_says_so_and_no_key_is_kept() -> None:
    key = "sk-proj-" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA2cD4fG6hJ8"
    nodes: dict[str, Any] = {f"n{number}": "x" * 10_000 for number in range(40)} | {"k": {"deep": [f"it is {key}"]}}
    for many in (nodes, {f"{name}{number}": value for number in range(40) for name, value in nodes.items()}):
        kept = kept_values(replace(ran("done"), nodes=many))
        assert len(kept) <= LIMIT
        assert key not in kept
        assert json.loads(kept)["cut"] is True
        assert RunResult.from_json({**json.loads(kept)}).output == "done"
    assert key not in kept_values(replace(ran("done"), nodes={"k": key}))


def test_an_entry_has_what_a_user_wants_to_know_and_is_bounded() -> None:
    failed = ran(error=RunError(code="missing_model", message="No model is set.", fix="Choose one."))
    told = RunEntry.of(failed, None, flow="f", name="Echo", source="cli", session="s")
    assert (told.input, told.output, told.error) == (None, None, "No model is set. Choose one.")
    long = RunEntry.of(ran("x" * (TEXT_LIMIT * 2)), "y\0\ud800", flow="f", name="n" * 999, source="cli")
    assert long.output is not None
    assert len(long.output) == TEXT_LIMIT + 1
    assert (long.input, len(long.name)) == ("y?", 200)


async def test_a_log_that_cannot_be_written_says_so_and_fails_no_run(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        runs = RunLog(Database("sqlite+aiosqlite:////dev/null/w.db"))
        runs.record("ada", entry())
        await runs.aclose()
    assert [record.message for record in caplog.records] == ["assistant.run.not_recorded"]
