"""The installed Wirewright under test: an interpreter and a `wirewright` command, used only from outside."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.processes.forked import ForkParent

LIMIT_SECONDS = 180
"""How long one command may take."""


@dataclass(frozen=True)
class Subject:
    """One installation of Wirewright.

    Attributes:
        python: its interpreter.
        command: its `wirewright` command.
        environment: variables added to those of every process.
    """

    python: Path
    command: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def at(cls, python: Path | str) -> "Subject":
        """The installation that an interpreter belongs to; its command stands beside it."""
        python = Path(python).absolute()
        return cls(python, python.parent / "wirewright")

    @classmethod
    def current(cls) -> "Subject":
        """The installation that runs the tests."""
        return cls.at(sys.executable)


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Workplace:
    """Where a subject runs: a working folder, a data folder and the shared cache.

    Attributes:
        subject: the installation.
        folder: holds the working folder, the data folder and the home.
        cache: where the flow engine is installed.
        forks: forks its commands from a process that has imported their libraries; None starts each by itself.
    """

    subject: Subject
    folder: Path
    cache: Path
    forks: ForkParent | None = None

    @property
    def work(self) -> Path:
        """The working folder of every command."""
        return self.folder / "work"

    @property
    def places(self) -> dict[str, str]:
        """What stands in snapshots for the paths of this machine."""
        return {
            str(self.work): "<work>",
            str(self.folder): "<folder>",
            str(self.cache): "<cache>",
            str(self.subject.python.parent.parent): "<installation>",
        }

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The whole environment of a process: nothing of the tester's own but the search path."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "WIREWRIGHT_CACHE": str(self.cache),
            "WIREWRIGHT_DATA": str(self.folder / "data"),
            **self.subject.environment,
            **(extra or {}),
        }

    def start(
        self, arguments: Sequence[str], *, extra: Mapping[str, str] | None = None, program: Path | None = None
    ) -> "subprocess.Popen[str]":
        """Start the command, or another program of the installation, with pipes for everything."""
        self._make_folders()
        return subprocess.Popen(
            [str(program or self.subject.command), *arguments],
            cwd=self.work,
            env=self.environment(extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: str = "",
        extra: Mapping[str, str] | None = None,
        program: Path | None = None,
        interrupted: bool = False,
    ) -> Outcome:
        """Run to the end.

        Args:
            arguments: what follows the program's name.
            stdin: its standard input.
            extra: variables for this process alone.
            program: another program than the command.
            interrupted: whether to send SIGINT after the first line of output.
        """
        if self.forks is not None and program is None and not interrupted:
            return self._forked(self.forks, arguments, stdin, extra)
        process = self.start(arguments, extra=extra, program=program)
        first = ""
        if interrupted:
            assert process.stdout is not None
            first = process.stdout.readline()
            process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(stdin, timeout=LIMIT_SECONDS)
        finally:
            process.kill()
        return Outcome(process.returncode, first + out, err)

    def _forked(
        self, forks: ForkParent, arguments: Sequence[str], stdin: str, extra: Mapping[str, str] | None
    ) -> Outcome:
        self._make_folders()
        variables = self.environment(extra)
        done = forks.run(*arguments, folder=self.work, variables=variables, seconds=LIMIT_SECONDS, stdin=stdin)
        return Outcome(done.code, done.out, done.err)

    def _make_folders(self) -> None:
        self.work.mkdir(parents=True, exist_ok=True)
        (self.folder / "home").mkdir(exist_ok=True)

    @contextmanager
    def serve(self, extra: Mapping[str, str] | None = None) -> Iterator["Served"]:
        """`wirewright serve` on a free port until the block is left."""
        with (self.folder / "serve.err").open("w") as errors:
            self._make_folders()
            process = subprocess.Popen(
                [str(self.subject.command), "serve", "--port", "0", "--json"],
                cwd=self.work,
                env=self.environment(extra),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
            try:
                yield Served(process, _address(process))
            finally:
                process.terminate()
                try:
                    process.communicate(timeout=30)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise


@dataclass(frozen=True)
class Served:
    """A running server.

    Attributes:
        process: to be told to stop.
        url: where it answers.
    """

    process: "subprocess.Popen[str]"
    url: str


@contextmanager
def silent_provider() -> Iterator[dict[str, str]]:
    """The variables of a model provider that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield {"OPENAI_COMPATIBLE_BASE_URL": f"http://127.0.0.1:{listener.getsockname()[1]}/v1"}


def _address(process: "subprocess.Popen[str]") -> str:
    """Where a server listens, as it announces on its output."""
    assert process.stdout is not None
    while select.select([process.stdout], [], [], 60)[0]:
        line = process.stdout.readline()
        if not line:
            break
        event = json.loads(line)
        if event.get("event") == "serving":
            return str(event["url"])
    raise AssertionError("The server did not say where it listens.")
