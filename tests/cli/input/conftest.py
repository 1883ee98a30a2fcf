"""A working folder with good files, bad ones made on demand, and the process that forks the commands."""

import asyncio
import hashlib
import json
import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from agent.settings import AssistantSettings
from evals.journal import open_journal
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.null import NullPlayer
from evals.scenarios.loader import load_scenarios
from flows.catalogue import Catalogue
from runtime.files.folders import LOCAL_USER
from runtime.files.store import UserFiles
from tests.databases.secrets import keep_variables
from tests.processes.forked import ForkParent, MakeForkParent
from tests.shared.flow_texts import ECHO, LOUDER
from tests.shared.stand_ins import StandInRunner, ran
from tests.surfaces.captures.cli_cases import ECHO_SCENARIO

ROOT = Path(__file__).parent.parent.parent.parent
IMPORTED = ROOT / "tests" / "evals" / "imports" / "data"
LIMIT_SECONDS = 60
GRACE_SECONDS = 5.0
NOBODY = 65534
HUGE_BYTES = 64 << 20
LEVELS = 100_000
ANSWERS = """
- {id: en-001, user: Count them., answer: Four., statement: It says four., label: true, because: It does.}
"""
TESTS = "tests:\n- {input: hi, equals: hi}\n"


@dataclass(frozen=True)
class Done:
    """How a command ended, and what outlived it."""

    code: int
    out: str
    err: str
    survivors: list[str]

    @property
    def document(self) -> Any:
        """The one document on standard output."""
        (line,) = self.out.splitlines()
        return json.loads(line)


@dataclass
class Bench:
    """Where commands work.

    Attributes:
        folder: holds the working, the data and the cache folder.
        forks: forks the commands.
        variables: of their environment.
    """

    folder: Path
    forks: ForkParent
    variables: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def work(self) -> Path:
        """The working folder."""
        return self.folder / "work"

    def run(self, arguments: str, *more: str, typed: str = "", **conditions: Any) -> Done:
        """Run a command under conditions; see `child.py`."""
        words = [json.dumps(conditions), *shlex.split(arguments), *more]
        done = self.forks.run(*words, folder=self.work, variables=self.variables, seconds=LIMIT_SECONDS, stdin=typed)
        return Done(done.code, done.out, done.err, self._survivors())

    def _survivors(self) -> list[str]:
        """The command lines of what is still there a moment after a command has ended; it is ended, too."""
        end = time.monotonic() + GRACE_SECONDS
        while (found := self.forks.children()) and time.monotonic() < end:
            time.sleep(0.02)
        for process in found:
            os.kill(process, signal.SIGKILL)
        return list(found.values())

    def bad(self, case: str, ending: str) -> Path:
        """A bad file in the working folder."""
        path = self.work / f"bad-{case}{ending}"
        match case:
            case "folder":
                path.mkdir(exist_ok=True)
            case "binary":
                path.write_bytes(b"\xff\xfe\x80 not text")
            case "nul":
                path.write_bytes(b"name: x\n\0\n")
            case "huge":
                with path.open("wb") as file:
                    file.truncate(HUGE_BYTES)
            case "deep":
                path.write_text("[" * LEVELS, encoding="utf-8")
            case "forbidden":
                path.write_text("{}", encoding="utf-8")
                path.chmod(0)
                if os.getuid() == 0:  # the command gives up root, and its data folder is closed to others
                    for ours in (data := self.folder / "data", *data.rglob("*")):
                        os.chown(ours, NOBODY, NOBODY)
            case _:
                pass
        return path

    def state(self) -> dict[str, object]:
        """Every file of the working folder and what it holds."""
        return {str(path.relative_to(self.work)): _content(path) for path in sorted(self.work.rglob("*"))}


def _content(path: Path) -> object:
    status = path.lstat()
    if path.is_dir() or status.st_size > HUGE_BYTES // 2:
        return oct(status.st_mode), path.is_dir() or status.st_size
    return oct(status.st_mode), hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="session")
def command_forks(fork_parent: MakeForkParent) -> ForkParent:
    """The process that forks the commands."""

    def variables(folder: Path) -> dict[str, str]:
        found = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        quiet = {"PYDANTIC_DISABLE_PLUGINS": "__all__", "LOGFIRE_IGNORE_NO_CONFIG": "1", "HOME": str(folder)}
        return {**found, **quiet, "NO_COLOR": "1"}

    child = Path(__file__).with_name("child.py")
    return fork_parent("commands", sys.executable, child, ROOT, variables=variables)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory, catalogue: Catalogue) -> Path:
    """A folder with everything good."""
    folder = tmp_path_factory.mktemp("filled")
    (folder / "cache").mkdir()
    shutil.copyfile(ROOT / "tests" / "flows" / "data" / "catalogue.json", folder / "cache" / "catalogue.json")
    _fill(folder / "work", catalogue)
    UserFiles(folder / "data", LOCAL_USER).write("kept.txt", "kept")
    keep_variables(LOCAL_USER, {"KEPT_KEY": "kept"}, folder / "data")
    return folder


@pytest.fixture
def bench(command_forks: ForkParent, filled: Path) -> Iterator[Bench]:
    """A fresh working folder; everyone may enter it, so that commands can run as another user."""
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(os.path.realpath(name)) / "bench"
        folder.parent.chmod(0o755)
        shutil.copytree(filled, folder)
        for part in (folder, folder / "work", folder / "cache"):
            part.chmod(0o777)
        yield Bench(
            folder,
            command_forks,
            {
                "WIREWRIGHT_CACHE": str(folder / "cache"),
                "WIREWRIGHT_DATA": str(folder / "data"),
                "WIREWRIGHT_MODEL": "demo",
                "OLLAMA_BASE_URL": "http://127.0.0.1:9/v1",
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
            },
        )


def _fill(work: Path, catalogue: Catalogue) -> None:
    (work / "scenarios").mkdir(parents=True)
    (work / "scenarios" / "small-echo.yaml").write_text(ECHO_SCENARIO, encoding="utf-8")
    for name, text in {
        "echo.flow": ECHO,
        "echo.tests.yaml": TESTS,
        "louder.flow": LOUDER,
        "harmless.py": "x = 1\n",
    }.items():
        (work / name).write_text(text, encoding="utf-8")
    (work / "answers").mkdir()
    (work / "answers" / "en.yaml").write_text(ANSWERS, encoding="utf-8")
    for name in ("query.json", "checks.json"):
        shutil.copyfile(IMPORTED / name, work / name)
    stage = PlayEnvironment(settings=AssistantSettings(), catalogue=catalogue, runner=StandInRunner(results=[ran("")]))
    journal = open_journal(work / "journal.jsonl", resume=False)
    for attempt in asyncio.run(play(list(load_scenarios(work / "scenarios")), NullPlayer(), stage)):
        journal.append(attempt)
