"""Children for tests: a process that forks one for each, for what must run apart from the test and from each other."""

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path(__file__).parent / "forking.py"


@dataclass(frozen=True)
class Ran:
    """How a child ended; a negative code is a signal."""

    code: int
    out: str
    err: str


class ForkParent:
    """A process that forks a child whenever it is asked to; see `forking.py` for what a child's file has.

    Args:
        python: the interpreter.
        child: the file.
        arguments: of its `ready`.
        folder: where it works.
        variables: its environment.
        warnings: whether Python's warnings are printed.
    """

    def __init__(
        self,
        python: Path | str,
        child: Path,
        *arguments: Path | str,
        folder: Path,
        variables: Mapping[str, str],
        warnings: bool = False,
    ) -> None:
        options = ["-I"] if warnings else ["-I", "-W", "ignore"]
        self._process = subprocess.Popen(
            [python, *options, PROGRAM, child, *arguments],
            env=dict(variables),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, *arguments: str, folder: Path, variables: Mapping[str, str], seconds: float, stdin: str = "") -> Ran:
        """Fork a child that works in a folder, with variables beside the nursery's own, and wait for its end.

        Raises:
            TimeoutError: when it takes longer than so many seconds; then the nursery has ended, too.
        """
        request = {"arguments": arguments, "folder": str(folder), "variables": dict(variables), "stdin": stdin}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        late = threading.Timer(seconds, self.end)
        late.start()
        answer = self._process.stdout.readline()
        late.cancel()
        if not answer:
            self.end()
            raise TimeoutError(f"a child took longer than {seconds} s, or ended the process that forks")
        return Ran(**json.loads(answer))

    def end(self) -> None:
        """End it, and what it forked."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def children(self) -> dict[int, str]:
        """The command lines of the processes that it has now and that have not ended, by their id."""
        mine = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
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
        return self._process.poll() is not None
