"""A run can hold no lock that the product waits for: it neither sees lock files nor opens them."""

import os
import sys
from pathlib import Path

import pytest

from runtime.files.lock import FileLock
from runtime.install.environment import RunnerEnvironment
from runtime.install.pruning import IN_USE
from runtime.runner import Runner
from tests.shared.attempts import MakeCode, needs, outcome

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.engine,
    pytest.mark.skipif(sys.platform != "linux", reason="Landlock"),
]

HOLD = """
import fcntl
fcntl.flock(os.open({path!r}, {flags}), fcntl.LOCK_EX | fcntl.LOCK_NB)
return "locked"
"""


def locks(environment: RunnerEnvironment, data: Path) -> dict[str, Path]:
    """The files that the product and its installer lock."""
    runner = environment.cache / "runner"
    home = runner / environment.digest
    return {
        "key": data / "secret.lock",
        "variables": data / "variables" / "default.lock",
        "files": data / "users" / "default" / "files",
        "environment": runner / f"{environment.digest}.lock",
        "bundles": runner / "bundles.lock",
        "in use": home / IN_USE,
        "packages": home / "env" / ".lock",
        "project": home / "project" / "uv.lock",
        "folder": home,
        "packages' folder": home / "env",
    }


@pytest.mark.parametrize(
    "name",
    [
        *("key", "variables", "files", "environment", "bundles", "in use"),
        *("packages", "project", "folder", "packages' folder"),
    ],
)
async def test_no_lock_of_the_product_can_be_held_by_a_run(
    name: str,
    runner: Runner,
    runner_environment: RunnerEnvironment,
    make_code: MakeCode,
    active: frozenset[str],
    tmp_path: Path,
) -> None:
    needs(active, "file system")
    path = locks(runner_environment, tmp_path)[name]
    if path.is_relative_to(tmp_path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        assert lock.try_acquire()
        lock.release()
    for flags in (os.O_RDONLY, os.O_RDONLY | os.O_DIRECTORY) if path.is_dir() else (os.O_RDONLY, os.O_PATH, os.O_RDWR):
        attempt = HOLD.format(path=str(path), flags=flags)
        assert "stopped" in await outcome(runner, make_code, attempt), (path, flags)


async def test_a_run_inherits_no_lock_that_it_could_release(
    runner: Runner, make_code: MakeCode, active: frozenset[str]
) -> None:
    needs(active, "file system")
    attempt = """
import stat
found = []
for number in range(256):
    try: mode = os.fstat(number).st_mode
    except OSError: continue
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode): found.append(number)
return found
"""
    assert await outcome(runner, make_code, attempt) == {"escaped": "[]"}
