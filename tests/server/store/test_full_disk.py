"""A disk without room: every kind of write is refused by name, nothing acknowledged is lost, and room is enough."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
MOUNT = 'mount -t tmpfs -o size=6m tmpfs "$1" && shift && exec "$@"'
"""Needs a mount namespace; without root, that of a user namespace."""


def on_a_small_disk(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program that alone sees a disk of 6 MB in this folder."""
    found = shutil.which("unshare")
    if found is None:
        pytest.skip("unshare is not installed, so that no small disk can be mounted")
    alone = (found, "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh", str(folder))
    if subprocess.run((*alone, "true"), capture_output=True, check=False).returncode != 0:
        pytest.skip("the system lets nobody mount a disk in a namespace")
    environment = {**os.environ, "WIREWRIGHT_MEMORY": "file"}
    return subprocess.run(
        (*alone, *command), cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900
    )


def test_a_full_disk_refuses_every_write_by_name_and_loses_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    done = on_a_small_disk(data, sys.executable, "-m", "tests.server.store.full_disk", str(data))
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["refused"] == [503, "store_unavailable"]
    assert report["full"]["flow"] == [503, "store_unavailable"]
    assert report["full"]["file"] == [503, "disk_refuses"]
    for name in ("before", "full", "after"):
        replies = report[name]
        assert {status for status, _ in replies.values()} <= {200, 201, 502, 503}, "each failure is typed"
        assert report["there"][name] == {kind: status < 300 for kind, (status, _) in replies.items()}, (
            "what was acknowledged is there, and nothing else"
        )
    for name in ("before", "after"):
        assert all(report["there"][name].values()), "the server goes on when there is room"
    assert report["alive"] == 200
    assert set(report["read"]) == {200}, "what is stored is read while nothing can be written"
    assert set(report["again"]) == {200}
    assert report["total"] == 2, "nothing of a refused flow is stored"
    assert report["events"]
    assert report["events_again"], "the events of a turn are stored as soon as there is room"
