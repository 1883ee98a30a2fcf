"""Systems without fork, Landlock or seccomp, such as Windows and macOS, simulated: refused or reported as they are."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.engine.component_results import ComponentFailure
from runtime.engine.confinement import VARIABLE, rule_of_environment
from runtime.engine.isolation import protections, try_confinement
from runtime.install.environment import RunnerEnvironment, runner_source
from runtime.results import RunResult
from runtime.runner import Runner
from tests.processes.kernels.lacking import Installed, Uninstalled, lacking
from tests.runtime.conftest import FakeEnvironment
from tests.runtime.engine import test_plain_user as plain_user
from tests.shared import kernel

ROOT = Path(__file__).parents[3]
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


FILES, CALLS, NETWORK = "file system", "system calls", "network of other runs"
LACKING: list[tuple[int, bool, str, tuple[str, ...]]] = [
    (0, False, "Landlock 4, seccomp.", (FILES, CALLS, NETWORK)),
    (0, True, "Landlock 4.", (FILES, NETWORK)),
    (7, False, "seccomp.", (CALLS,)),
    (2, True, "Landlock 4. Its Landlock is version 2.", (FILES, NETWORK)),
    (3, True, "Landlock 4. Its Landlock is version 3.", (NETWORK,)),
    (3, False, "Landlock 4, seccomp. Its Landlock is version 3.", (CALLS, NETWORK)),
]
"""A version of Landlock, whether there is seccomp, what the kernel lacks in words, and the missing protections."""
able = pytest.mark.skipif(not kernel.confines(), reason="this kernel itself lacks Landlock 4 or seccomp")


@pytest.fixture
def installed(runner_environment: RunnerEnvironment, tmp_path: Path) -> Callable[..., Installed]:
    """The real engine on a kernel that lacks something."""

    def make(landlock: int = 0, *, seccomp: bool = False, boasts: bool = False) -> Installed:
        source = lacking(
            tmp_path / "source", runner_environment.source, landlock=landlock, seccomp=seccomp, boasts=boasts
        )
        return Installed(source, runner_environment.cache, runner_environment.digest)

    return make


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


@able
@pytest.mark.anyio
@pytest.mark.parametrize(("landlock", "seccomp", "lacks", "missing"), LACKING)
async def test_a_kernel_that_cannot_confine_runs_refuses_them_with_what_it_lacks_and_downloads_nothing(
    tmp_path: Path, landlock: int, seccomp: bool, lacks: str, missing: tuple[str, ...]
) -> None:
    source = lacking(tmp_path / "source", runner_source(), landlock=landlock, seccomp=seccomp)
    async with Runner(Uninstalled(source, tmp_path / "cache", "none"), confinement="required") as runner:
        assert not await runner.ready(60)
        assert runner.failure is not None
        assert runner.failure.code == "refused"
        assert runner.failure.message.endswith(f"because its kernel lacks what confines them: {lacks}")
        assert "Linux 6.7" in runner.failure.fix
        assert "WIREWRIGHT_RUN_CONFINEMENT=available" in runner.failure.fix
        assert (await runner.run(Flow.empty(), "hi")).error == runner.failure
    tried = try_confinement(source)
    assert tried is not None
    assert tried.missing == missing


@able
@pytest.mark.anyio
async def test_an_engine_that_is_installed_already_runs_nothing_on_a_kernel_that_cannot_confine_it(
    installed: Callable[..., Installed], echo: Flow
) -> None:
    async with Runner(installed(3, seccomp=True), confinement="required") as runner:
        result = await runner.run(echo, "hi")
        assert result.error is not None
        assert (result.error.code, result.output) == ("refused", None)
        assert result.error.message.endswith("Landlock 4. Its Landlock is version 3.")
        assert (runner.state, runner.engine_pid) == ("failed", None)
        described = await runner.describe_component("class A: pass", "A")
        assert isinstance(described, ComponentFailure)


@able
@pytest.mark.anyio
async def test_a_run_whose_confinement_does_not_hold_gets_no_flow_whatever_the_kernel_promised(
    installed: Callable[..., Installed], echo: Flow
) -> None:
    async with Runner(installed(boasts=True), confinement="required") as runner:
        assert await runner.ready(180), runner.failure
        for _ in range(2):
            result = await runner.run(echo, "hi")
            assert result.error is not None
            assert (result.error.code, result.output) == ("refused", None)
            assert result.error.message.endswith("Landlock 4, seccomp.")


@able
@pytest.mark.anyio
async def test_a_kernel_that_cannot_confine_runs_runs_them_where_the_operator_allows_it_and_results_say_so(
    installed: Callable[..., Installed], echo: Flow
) -> None:
    environment = installed()
    found = {one.name: one for one in protections(environment.source)}
    assert set(found) >= KERNELS
    assert kernel.must_hold() - {name for name, one in found.items() if one.active} == kernel.must_hold() & KERNELS
    assert not [name for name in KERNELS if found[name].active]
    assert all(found[name].note.startswith("not here: needs ") for name in KERNELS)
    assert found["own process"].active
    assert found["open files"].active
    async with Runner(environment, confinement="available") as runner:
        assert await runner.ready(180), runner.failure
        result = await runner.run(echo, "hi")
        assert result.output == "hi"
        assert result.missing_protections == (FILES, CALLS, NETWORK)
        assert result.to_json()["missing_protections"] == [FILES, CALLS, NETWORK]
        assert RunResult.from_json(result.to_json()) == result


@able
@pytest.mark.anyio
async def test_a_run_that_is_confined_misses_nothing(runner: Runner, echo: Flow) -> None:
    result = await runner.run(echo, "hi")
    assert "missing_protections" not in result.to_json()


@pytest.mark.anyio
@pytest.mark.parametrize("line", ['{"type": "confined"}', '{"type": "confined", "held": "files"}'])
async def test_a_process_that_does_not_say_what_holds_is_not_confined(
    fake: Callable[[str], RunnerEnvironment], line: str
) -> None:
    body = f"""
def started(request): connections[request["id"]].sendall({line!r}.encode() + b"\\n")
say(HELLO)
for request in requests():
    if request["type"] == "run": result(request, "ran")
"""
    async with Runner(fake(body), catalogue=Catalogue({}), confinement="required") as runner:
        result = await runner.run(Flow.empty(), "hi")
        assert result.error is not None
        assert (result.error.code, result.output) == ("refused", None)


@pytest.mark.parametrize(
    ("written", "rule"), [("available", "available"), ("required", "required"), ("", "required"), ("off", "required")]
)
def test_only_the_operators_own_word_allows_runs_without_confinement(
    monkeypatch: pytest.MonkeyPatch, written: str, rule: str
) -> None:
    monkeypatch.setenv(VARIABLE, written)
    assert rule_of_environment() == rule


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
