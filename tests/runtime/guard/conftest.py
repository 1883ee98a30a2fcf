"""A disposable child in which a sample runs with nothing in its way, and what it may find there."""

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runtime.install.environment import RunnerEnvironment
from tests.processes.forked import ForkParent, MakeForkParent, Ran
from tests.runtime.guard.sampling import ENGINE, HERE, SECRET, Listener


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A folder with a secret in it, and files that nobody may remove."""
    folder = tmp_path / "canary"
    folder.mkdir()
    (folder / "canary.txt").write_text(SECRET)
    (folder / "canary.ini").write_text(f"[a]\nsecret = {SECRET}\n")
    (folder / "code.py").write_text(f"found = {SECRET!r}\n")
    (folder / "victim").touch()
    (folder / "victims").mkdir()
    return folder


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A loopback port; it greets, so that a client that waits goes on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        heard = Listener(server.getsockname()[1])
        server.settimeout(20)

        def wait() -> None:
            try:
                with server.accept()[0] as found:
                    heard.called.set()
                    found.sendall(b"220 hello\r\n")
            except OSError:
                pass

        thread = threading.Thread(target=wait)
        thread.start()
        yield heard
        with socket.socket() as last:
            last.settimeout(1)
            last.connect_ex(("127.0.0.1", heard.port))
        thread.join()


Nurseries = Callable[[Path | str, str], ForkParent]
ENGINE_CHILD = "engine_child.py"
LIBRARIES = ("asyncio", "httpx", "pydantic.main", "pydantic.type_adapter", "urllib.request")
"""What several samples import that need nothing; imported once, before forking."""
ENGINE_LIBRARIES = (
    "langchain_core.prompts.prompt",
    "langchain_core.vectorstores.in_memory",
    "numpy",
    "pandas",
    "requests",
)
"""What several samples import that need a library."""


@pytest.fixture(scope="session")
def nurseries(fork_parent: MakeForkParent) -> Nurseries:
    """Gives the process that forks for a Python and a kind of child, and starts it when there is none."""

    def variables(folder: Path) -> dict[str, str]:
        found = {"PATH": os.environ["PATH"], "WW_CANARY": SECRET, "HOME": str(folder), "DO_NOT_TRACK": "1"}
        return {**found, "PYDANTIC_DISABLE_PLUGINS": "__all__"}

    def of(python: Path | str, child: str) -> ForkParent:
        engines = python != sys.executable
        libraries = () if child == ENGINE_CHILD else ENGINE_LIBRARIES if engines else LIBRARIES
        kind = f"guard-{'engine' if engines else 'own'}-{Path(child).stem}"
        return fork_parent(kind, python, HERE / child, *libraries, variables=variables)

    return of


@pytest.fixture
def unguarded(
    canary: Path,
    tmp_path: Path,
    nurseries: Nurseries,
    request: pytest.FixtureRequest,
) -> Callable[[str, str], Ran]:
    """Run a source in a disposable child, with a library of the engine's environment when it needs one."""

    def run(source: str, needs: str) -> Ran:
        path = tmp_path / "sample.py"
        path.write_text(source, encoding="utf-8")
        python: Path | str = sys.executable
        if needs:  # a library, or the engine itself
            environment: RunnerEnvironment = request.getfixturevalue("runner_environment")
            python = environment.python
        nursery = nurseries(python, ENGINE_CHILD if needs == ENGINE else "child.py")
        (tmp_path / "tmp").mkdir(exist_ok=True)
        variables = {"HOME": str(canary), "TMPDIR": str(tmp_path / "tmp")}
        return nursery.run(str(path), folder=tmp_path, variables=variables, seconds=300 if needs == ENGINE else 60)

    return run
