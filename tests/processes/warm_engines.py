"""Engines for the commands that tests start: forked from one that is warm, instead of two seconds of imports each.

A command finds the engine in its cache. These fixtures make a cache in which the engine's interpreter is a small
program that asks `tests/processes/fork_server.py` for a fork of it. Everything else about the engine is real.
"""

import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdist.workermanage import WorkerController

from runtime.engine.environment_variables import engine_environment
from runtime.install.environment import RunnerEnvironment
from tests.processes.installation import once

SERVER = Path(__file__).parent / "fork_server.py"
CHILD = Path(__file__).parents[1] / "lfx_runner" / "warm_engine.py"
START_SECONDS = 180
INTERPRETER = """#!{python} -IS
import os, sys

REAL, SOCKET, MAIN = {real!r}, {socket!r}, {main!r}
sys.path.insert(0, {client!r})
import fork_client


def sources(main):
    folder = os.path.dirname(os.path.realpath(main))
    found = [(os.path.relpath(path, folder), names) for path, _, names in os.walk(folder)]
    return [
        (path, name, open(os.path.join(folder, path, name), "rb").read())
        for path, names in sorted(found)
        for name in sorted(names)
        if name.endswith(".py")
    ]


program, *arguments = sys.argv[sys.argv.index("utf8") + 1 :] if "utf8" in sys.argv else [""]
same = os.path.realpath(program) == os.path.realpath(MAIN)
if arguments[:1] != ["serve"] or not (same or sources(program) == sources(MAIN)):
    os.execv(REAL, [REAL, *sys.argv[1:]])
server = fork_client.connected(SOCKET)
fork_client.ask(server, dict(arguments=arguments, environment=dict(os.environ), folder=os.getcwd()))
fork_client.leave_streams()
fork_client.answer(server)
code = fork_client.answer(server)
os._exit(1 if code is None else code & 255)
"""
"""Stands for the interpreter of an engine."""


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Tell a worker which process ends the run."""
    node.workerinput["controller"] = os.getpid()


@pytest.fixture(scope="session")
def warm_address(
    request: pytest.FixtureRequest, runner_environment: RunnerEnvironment, shared_folder: Path
) -> Iterator[Path]:
    """Where to ask for a fork: one process that has imported lfx serves all workers, until the run ends."""
    announced = shared_folder / "warm-engine"
    controller = getattr(request.config, "workerinput", {}).get("controller", os.getpid())
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        folder = Path(tempfile.mkdtemp(prefix="warm-"))
        address = folder / "socket"
        server = subprocess.Popen(
            [
                *(runner_environment.python, "-I", "-X", "utf8", SERVER, CHILD),
                *(address, str(controller), runner_environment.main),
            ],
            env=engine_environment(folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        started.append(server)
        assert server.stdout is not None
        assert select.select([server.stdout], [], [], START_SECONDS)[0], "the warm engine did not start"
        assert server.stdout.readline() == b'"ready"\n'
        announced.write_text(str(address))

    once(announced, start)
    yield Path(announced.read_text())
    for server in started if controller == os.getpid() else ():
        server.terminate()
        server.wait()
        shutil.rmtree(Path(announced.read_text()).parent)


@pytest.fixture(scope="session")
def warm_cache(
    runner_environment: RunnerEnvironment, warm_address: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A cache whose engine is forked from a warm one."""
    cache = tmp_path_factory.mktemp("warm-cache")
    shutil.copyfile(runner_environment.catalogue, cache / "catalogue.json")
    _link(runner_environment.folder, cache / "runner" / runner_environment.digest, beside={"env"})
    environment = cache / "runner" / runner_environment.digest / "env"
    _link(runner_environment.folder / "env", environment, beside={"bin"})
    _link(runner_environment.folder / "env" / "bin", environment / "bin", beside={"python"})
    interpreter = environment / "bin" / "python"
    interpreter.write_text(
        INTERPRETER.format(
            python=sys.executable,
            real=str(runner_environment.python),
            socket=str(warm_address),
            main=str(runner_environment.main),
            client=str(SERVER.parent),
        )
    )
    interpreter.chmod(0o755)
    return cache


@pytest.fixture(scope="session")
def warm_environment(warm_cache: Path) -> RunnerEnvironment:
    """The engine of that cache, for runners of a test's own."""
    return RunnerEnvironment.locate(warm_cache)


@pytest.fixture
def warm_engine(warm_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this test, in this process and in others, start engines that are forked from the warm one."""
    monkeypatch.setenv("WIREWRIGHT_CACHE", str(warm_cache))


def _link(source: Path, target: Path, *, beside: set[str]) -> None:
    """Make a folder that holds links to everything in another, except for some names."""
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.name not in beside:
            (target / path.name).symlink_to(path)
