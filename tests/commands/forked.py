"""The `wirewright` command for tests that start it: forked from a process that has imported it, not started anew.

A pytest plugin. The command that tests get is a small program that asks `tests/processes/fork_server.py` for a fork,
with its arguments, environment, streams, folder, signals and exit code. Where a variable differs that an interpreter
or an import reads, such as the locale, the program starts the real command instead; so do tests that are about the
start itself.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.installation import once

HERE = Path(__file__).parent
SERVER = HERE.parent / "processes" / "fork_server.py"
START_SECONDS = 180
PREFIXES = ("PYTHON", "LC_", "LANG", "LD_")
"""What the variables of an interpreter's start are called."""
CHARACTERS, UTF8 = ("LANG", "LC_ALL", "LC_CTYPE"), [None, "C.UTF-8"]
"""An interpreter takes C.UTF-8 where these say nothing: to it, these values are one."""


@pytest.fixture(scope="session")
def wirewright_forks(request: pytest.FixtureRequest, shared_folder: Path) -> Iterator[Path]:
    """A file that says where to ask for commands, which one process forks for all workers until the run ends."""
    announced = shared_folder / "wirewright-forks"
    controller = getattr(request.config, "workerinput", {}).get("controller", os.getpid())
    started: list[subprocess.Popen[str]] = []

    def start() -> None:
        folder = Path(tempfile.mkdtemp(prefix="commands-"))
        before = dict(os.environ)
        server = subprocess.Popen(
            [sys.executable, "-P", SERVER, HERE / "child.py", folder / "socket", str(controller)],
            cwd=folder,
            env=before,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(server)
        assert server.stdout is not None
        assert select.select([server.stdout], [], [], START_SECONDS)[0], "the commands were not imported in time"
        ready = json.loads(server.stdout.readline())
        names = {*ready["read"], *(name for name in before if name.startswith(PREFIXES))}
        known = {name: [before.get(name), ready["set"].get(name, before.get(name))] for name in sorted(names)}
        if {before.get(name) for name in CHARACTERS} <= {*UTF8}:
            known |= dict.fromkeys(CHARACTERS, UTF8)
        announced.write_text(json.dumps({"socket": str(folder / "socket"), "known": known}))

    once(announced, start)
    yield announced
    for server in started if controller == os.getpid() else ():
        server.terminate()
        server.wait()
        shutil.rmtree(Path(json.loads(announced.read_text())["socket"]).parent)


@pytest.fixture(scope="session")
def wirewright_command(wirewright_forks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, alone in a folder that a search path may begin with."""
    real = Path(sys.executable).with_name("wirewright")
    return _program(tmp_path_factory.mktemp("command") / "wirewright", real, wirewright_forks)


@pytest.fixture(scope="session")
def python_command(wirewright_forks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python, which runs a module that needs what the command imports: `-m MODULE ARGUMENT...`."""
    return _program(tmp_path_factory.mktemp("command") / "python", Path(sys.executable), wirewright_forks)


def _program(path: Path, real: Path, announced: Path) -> Path:
    """Write what stands for a program."""
    program = (HERE / "program.py").read_text(encoding="utf-8")
    given = {"COMMAND": str(real), "CLIENT": str(SERVER.parent), **json.loads(announced.read_text())}
    values = "\n".join(f"{name.upper()} = {value!r}" for name, value in given.items())
    path.write_text(f"#!{sys.executable} -IS\n{values}\n\n{program}", encoding="utf-8")
    path.chmod(0o755)
    return path
