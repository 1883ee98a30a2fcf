"""Systems without fork, Landlock or seccomp, such as Windows and macOS, simulated: refused or reported as they are."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from flows.document import Flow
from runtime.engine.isolation import protections
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from tests.runtime.conftest import FakeEnvironment
from tests.runtime.engine import test_plain_user as plain_user
from tests.shared import kernel

ROOT = Path(__file__).parents[3]
LACKING = """import importlib.util, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("main", {main!r})
main = importlib.util.module_from_spec(spec)
spec.loader.exec_module(main)
main.become_package()
from lfx_runner.confine import landlock, root, seccomp
landlock.abi = lambda: 0
seccomp.available = lambda: False
root.sys = type("macOS", (), {{"platform": "darwin"}})
main.become_package = lambda: None
sys.exit(main.main(sys.argv[1:]))
"""
KERNELS = {
    *(
        "file system",
        "memory of others",
        "memory",
        "signals",
        "processes",
        "system calls",
        "names of files",
        "folder size",
    ),
    *("listening", "network of verification runs", "network of verification runs with models", "network of other runs"),
}
"""What only Linux has."""
IMPORTS = """
import builtins, importlib, os, sys
del os.fork
missing = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp"}
real = builtins.__import__
def own(name, globals=None, *rest, **more):
    file = (globals or {}).get("__file__") or ""
    if name in missing and file.startswith(sys.argv[1]) and ".venv" not in file:
        raise ModuleNotFoundError(f"{name} is not on this system: {file}")
    return real(name, globals, *rest, **more)
builtins.__import__ = own
for name in ("wirewright", "cli.main", "server.app", "agent.assistant", "evals.score", "tools.verify"):
    importlib.import_module(name)
"""


@dataclass(frozen=True)
class Installed(RunnerEnvironment):
    """The installed environment with another program."""

    async def install(self, progress: Callable[[str], None] | None = None, *, repair: bool = False) -> None:
        """Nothing is missing."""


@pytest.fixture
def lacking(runner_environment: RunnerEnvironment, tmp_path: Path) -> Installed:
    """The real engine on a system that forks, and has neither Landlock nor seccomp nor mounts."""
    (tmp_path / "main.py").write_text(LACKING.format(main=str(runner_environment.main)))
    for name in ("uv.lock", "pyproject.toml"):
        (tmp_path / name).symlink_to(runner_environment.source / name)
    return Installed(tmp_path, runner_environment.cache, runner_environment.digest)


@pytest.mark.anyio
async def test_a_system_that_cannot_fork_refuses_runs_at_once_and_installs_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(os, "fork")
    repairs: list[bool] = []
    environment = FakeEnvironment(
        source=tmp_path, cache=tmp_path, digest="fake", script=tmp_path / "none.py", repairs=(repairs,)
    )
    async with Runner(environment) as runner:
        assert not await runner.ready(30)
        assert runner.state == "failed"
        assert runner.failure is not None
        assert runner.failure.message.startswith("Flows do not run on this system: it cannot fork")
        assert "WSL" in runner.failure.fix
        result = await runner.run(Flow.empty(), "hi")
        assert result.error == runner.failure
    assert repairs == []


def test_the_status_of_a_system_that_cannot_fork_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "fork")
    monkeypatch.setattr(sys, "platform", "win32")
    found = {one.name: one for one in protections(tmp_path)}
    assert found["own process"].note == "this system cannot fork, so flows do not run here"
    active = {name for name, one in found.items() if one.active}
    assert active == {"known code", "model keys"}


@pytest.mark.anyio
async def test_a_system_without_landlock_and_seccomp_runs_flows_and_its_status_names_what_is_missing(
    lacking: Installed, runner_environment: RunnerEnvironment, echo: Flow
) -> None:
    found = {one.name: one for one in protections(lacking.source)}
    assert set(found) >= KERNELS
    assert kernel.must_hold() - {name for name, one in found.items() if one.active} == kernel.must_hold() & KERNELS
    assert not [name for name in KERNELS if found[name].active]
    assert all(found[name].note.startswith("not here: needs ") for name in KERNELS)
    assert found["own process"].active
    assert found["open files"].active
    async with Runner(lacking) as runner:
        assert await runner.ready(180), runner.failure
        assert (await runner.run(echo, "hi")).output == "hi"


@pytest.mark.parity("smoke-proposal-systems")
def test_everything_that_runs_no_flow_is_importable_without_the_modules_of_unix() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(ROOT)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_workflow_runs_the_engine_free_tests_on_every_system() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]
    matrix = jobs["engine-free"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    [command] = [step["run"] for step in jobs["engine-free"]["steps"] if "pytest" in step.get("run", "")]
    assert '-m "not engine"' in command
    folders = [word for word in command.split() if word.startswith("tests/")]
    assert folders
    assert all((ROOT / folder).is_dir() for folder in folders)


def test_the_workflow_tries_the_escapes_as_root_and_as_a_plain_user() -> None:
    steps = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]["linux"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert "make test-all" in commands, "everything, as the plain user that a runner of the workflow is"
    [as_root] = [command.split() for command in commands if command.startswith("sudo ")]
    folders = [ROOT / word for word in as_root if word.startswith("tests/")]
    assert "-m" not in as_root[as_root.index("pytest") :], "nothing of them is left out"
    for path in [Path(plain_user.__file__), *plain_user.ESCAPES]:
        assert path.is_file(), path
        assert any(path.is_relative_to(folder) for folder in folders), path
