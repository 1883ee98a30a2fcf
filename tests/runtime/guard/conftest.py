"""A disposable child in which a sample runs with nothing in its way, and what it may find there."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runtime.provision import RunnerEnvironment
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
                    heard.called = True
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


@pytest.fixture
def unguarded(
    canary: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> Callable[[str, str], subprocess.CompletedProcess[str]]:
    """Run a source in a disposable child, with a library of the engine's environment when it needs one."""

    def run(source: str, needs: str) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "sample.py"
        path.write_text(source, encoding="utf-8")
        python: Path | str = sys.executable
        if needs:  # a library, or the engine itself
            environment: RunnerEnvironment = request.getfixturevalue("runner_environment")
            python = environment.python
        (tmp_path / "tmp").mkdir(exist_ok=True)
        variables = {
            "PATH": os.environ["PATH"],
            "WW_CANARY": SECRET,
            "HOME": str(canary),
            "TMPDIR": str(tmp_path / "tmp"),
            "DO_NOT_TRACK": "1",
        }
        child = "engine_child.py" if needs == ENGINE else "child.py"
        command = [python, "-I", "-W", "ignore", HERE / child, path]
        return subprocess.run(
            command,
            env=variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300 if needs == ENGINE else 60,
            errors="replace",
            check=False,
        )

    return run
