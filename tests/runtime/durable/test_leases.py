"""Workflows of an executor that is gone go on in another one, and those of one that is there stay."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.databases.postgres import Cluster
from tests.databases.stored import query


def _take(url: str, notes: Path, how: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.runtime.durable.counted", url, str(notes), how]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_another_executor_goes_on_where_the_lease_of_the_first_one_has_passed(
    postgres: Cluster, tmp_path: Path
) -> None:
    url, notes = postgres.schema(), tmp_path / "notes"
    assert _take(url, notes, "die").returncode == -signal.SIGKILL
    adopted = _take(url, notes, "adopt")
    assert adopted.stdout == "1 hello world", adopted.stderr
    assert notes.read_text().split() == ["first", "second", "second"]
    assert query(url, "select count(*) from servers") == [(0,)]
