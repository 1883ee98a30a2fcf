"""The wheel as it would be published, installed into an environment that shares nothing with the checkout.

A pytest plugin: both are made once for all workers of a run.
"""

import contextlib
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import uv

from runtime.files.lock import FileLock
from scripts.hatch_build import NO_PAGE_VARIABLE
from scripts.page import is_current

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 600


def uv_run(*arguments: str, cwd: Path = ROOT) -> None:
    """Run uv, and fail with what it says."""
    command = [uv.find_uv_bin(), *arguments]
    environment = dict(os.environ)
    if not is_current(ROOT):  # no registry answered when the page was to be built: packages are tested without it
        environment[NO_PAGE_VARIABLE] = "1"
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def shared_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(request.config, "workerinput") else base


@pytest.fixture(scope="session")
def wheel(shared_folder: Path) -> Path:
    """The wheel, built from a source distribution as it would be published."""
    folder = shared_folder / "wheel"

    def build() -> None:
        uv_run("build", "--quiet", "--out-dir", str(folder), "--python", sys.executable, str(ROOT))

    once(folder, build)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, shared_folder: Path) -> Path:
    """The interpreter of a fresh environment that holds the wheel, its extra `evals`, and the locked dependencies."""
    folder = shared_folder / "installed"
    python, locked = folder / "venv" / "bin" / "python", folder / "requirements.txt"

    def install() -> None:
        folder.mkdir(exist_ok=True)
        choice = ("--frozen", "--no-dev", "--extra", "evals", "--no-emit-project", "--no-hashes")
        into = ("--no-deps", "--python", str(python))
        uv_run("export", "--quiet", *choice, "--output-file", str(locked))
        uv_run("venv", "--quiet", "--clear", "--python", sys.executable, str(folder / "venv"))
        uv_run("pip", "install", "--quiet", *into, "--requirement", str(locked), str(wheel))
        _share_bytecode(folder / "venv")

    once(folder, install)
    return python


def _share_bytecode(environment: Path) -> None:
    """Give packages the compiled modules of this environment's: Python takes those whose source is the same."""
    ours = Path(sysconfig.get_path("purelib"))
    theirs = environment / ours.relative_to(sys.prefix)
    for compiled in ours.rglob("__pycache__/*.pyc"):
        target = theirs / compiled.relative_to(ours)
        if target.parent.parent.is_dir():
            target.parent.mkdir(exist_ok=True)
            with contextlib.suppress(OSError):  # written by another worker just now, or on another disk
                target.hardlink_to(compiled)


def once(folder: Path, make: Callable[[], None]) -> None:
    """Make what a folder holds, unless another worker did; wait while another does."""
    finished = folder.with_name(f"{folder.name}.finished")
    lock = FileLock(folder.with_name(f"{folder.name}.lock"))
    deadline = time.monotonic() + LIMIT_SECONDS
    while not lock.try_acquire():
        assert time.monotonic() < deadline, f"another worker holds {folder.name} for too long"
        time.sleep(0.1)
    try:
        if not finished.exists():
            make()
            finished.touch()
    finally:
        lock.release()
