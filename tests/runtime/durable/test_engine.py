"""Workflows go on where their process was killed."""

import asyncio
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from dbos import DBOS

from runtime.database.backends.urls import sqlite_file
from runtime.durable.engine import DurableEngine


def _take(url: str, notes: Path, how: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.runtime.durable.counted", url, str(notes), how]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_killed_workflow_goes_on_and_repeats_no_finished_step(database_url: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    killed = _take(database_url, notes, "die")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = _take(database_url, notes, "live")
    assert again.stdout == "hello world", again.stderr
    assert notes.read_text().split() == ["first", "second", "second"]


def test_the_file_of_sqlite_is_closed_to_others(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'house.db'}"
    _take(url, tmp_path / "notes", "die")
    assert sqlite_file(url) == tmp_path / "house.db"
    file = tmp_path / "house-durable.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.anyio
async def test_threads_of_the_loop_work_after_it_was_closed(tmp_path: Path) -> None:
    engine = DurableEngine(f"sqlite+aiosqlite:///{tmp_path / 'house.db'}", "one")
    await engine.launch()
    await DBOS.list_workflows_async()
    await engine.aclose()
    assert await asyncio.to_thread(int, "7") == 7
