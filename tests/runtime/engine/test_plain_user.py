"""The escape tests again, as a user without any privilege: the suite itself may run as root."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.install.environment import RunnerEnvironment
from tests.shared import kernel

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
ESCAPES = [
    *(HERE / f"test_{name}.py" for name in ("confinement", "isolation", "system_calls", "file_names")),
    ROOT / "tests" / "runtime" / "install" / "test_locks_in_runs.py",
    *(ROOT / "tests" / "lfx_runner" / "confine" / f"test_{name}.py" for name in ("others", "root", "signals")),
    ROOT / "tests" / "runtime" / "egress" / "test_runs.py",
]


@pytest.mark.engine
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="the escape tests run as a plain user already")
def test_every_escape_is_stopped_for_a_plain_user_as_well(runner_environment: RunnerEnvironment) -> None:
    tests = [str(path) for path in ESCAPES]
    options = ["-q", "-n0", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.processes.plain_user", sys.executable, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        env={**os.environ, "WIREWRIGHT_CACHE": str(runner_environment.cache)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    if "no mounts here" in done.stderr and not kernel.own_root():
        pytest.skip("this root may not mount, so its Python is out of a plain user's reach")
    assert done.returncode == 0, f"{done.stdout[-3000:]}{done.stderr[-1000:]}"
    assert " passed" in done.stdout
    assert " failed" not in done.stdout
