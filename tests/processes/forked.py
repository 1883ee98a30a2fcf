"""Children for tests: a process that forks one for each, for what must run apart from the test and from each other.

A pytest plugin: a process of a kind is started once for all workers of a run, and forks one for each of them.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes.installation import once

PROGRAM = Path(__file__).parent / "forking.py"
START_SECONDS = 300


@dataclass(frozen=True)
class Ran:
    """How a child ended; a negative code is a signal."""

    code: int
    out: str
    err: str


class ForkParent:
    """A process that forks a child whenever it is asked to; see `forking.py` for what a child's file has.

    Args:
        address: where a process listens that forks one such for each connection.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(address)
        self._answers = self._connection.makefile("rb")
        self._pid = int(self._answers.readline())
        self._handle = os.pidfd_open(self._pid)

    def run(self, *arguments: str, folder: Path, variables: Mapping[str, str], seconds: float, stdin: str = "") -> Ran:
        """Fork a child that works in a folder, with variables beside the nursery's own, and wait for its end.

        Raises:
            TimeoutError: when it takes longer than so many seconds; then the nursery has ended, too.
        """
        request = {"arguments": arguments, "folder": str(folder), "variables": dict(variables), "stdin": stdin}
        self._connection.sendall(json.dumps(request).encode() + b"\n")
        late = threading.Timer(seconds, self.end)
        late.start()
        answer = self._answers.readline()
        late.cancel()
        if not answer:
            self.end()
            raise TimeoutError(f"a child took longer than {seconds} s, or ended the process that forks")
        return Ran(**json.loads(answer))

    def end(self) -> None:
        """End it, and what it forked."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        select.select([self._handle], [], [])

    def children(self) -> dict[int, str]:
        """The command lines of the processes that it has now and that have not ended, by their id."""
        mine = Path(f"/proc/{self._pid}/task/{self._pid}/children")
        lines: dict[int, str] = {}
        for child in map(int, mine.read_text(encoding="ascii").split()):
            with contextlib.suppress(OSError):
                line = Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8", errors="replace")
                if line:  # one that has ended has none
                    lines[child] = line.replace("\0", " ").strip()
        return lines

    @property
    def ended(self) -> bool:
        """Whether it can fork no more."""
        return bool(select.select([self._handle], [], [], 0)[0])


MakeForkParent = Callable[..., ForkParent]


@pytest.fixture(scope="session")
def fork_parent(request: pytest.FixtureRequest, shared_folder: Path) -> Iterator[MakeForkParent]:
    """Gives this worker's process that forks children of a kind."""
    controller = getattr(request.config, "workerinput", {}).get("controller", os.getpid())
    mine: dict[str, ForkParent] = {}
    started: dict[Path, subprocess.Popen[bytes]] = {}

    def of(
        kind: str,
        python: Path | str,
        child: Path,
        *arguments: Path | str,
        variables: Callable[[Path], Mapping[str, str]],
        warnings: bool = False,
    ) -> ForkParent:
        """A process that forks children of a kind; another one if that has ended.

        Args:
            kind: names what is given besides.
            python: the interpreter.
            child: the file.
            arguments: of its `ready`.
            variables: its environment, with the folder that it works in.
            warnings: whether Python's warnings are printed.
        """
        announced = shared_folder / f"forks-{kind}"

        def start() -> None:
            folder = Path(tempfile.mkdtemp(prefix="forks-"))  # the name of a socket must be short
            options = ["-I"] if warnings else ["-I", "-W", "ignore"]
            server = subprocess.Popen(
                [python, *options, PROGRAM, folder / "socket", str(controller), child, *arguments],
                env=dict(variables(folder)),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            started[folder] = server
            assert server.stdout is not None
            assert select.select([server.stdout], [], [], START_SECONDS)[0], "the children were not imported in time"
            assert server.stdout.readline() == b"ready\n"
            announced.write_text(str(folder / "socket"))

        if kind not in mine or mine[kind].ended:
            once(announced, start)
            mine[kind] = ForkParent(announced.read_text())
        return mine[kind]

    yield of
    for parent in mine.values():
        parent.end()
    for folder, server in started.items() if controller == os.getpid() else ():
        server.kill()
        server.wait()
        shutil.rmtree(folder)
