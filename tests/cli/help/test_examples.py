"""The examples at the end of every command's help, which work as they stand."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from agent.settings import AssistantSettings
from cli.main import command_line
from runtime.database.database import Database
from runtime.files.folders import LOCAL_USER
from runtime.sessions.run_entry import RunEntry
from runtime.sessions.runs import RunLog
from tests.cli.help.test_page import tree
from tests.shared.flow_texts import ECHO, LOUDER

ROOT = Path(__file__).parent.parent.parent.parent
COMMANDS = {path: command for path, command in tree(get_command(command_line())) if not hasattr(command, "commands")}
NEEDS_OTHERS = {
    ("serve",): "it serves until it is stopped",
    ("models", "test"): "it asks a provider",
    ("logout",): "it needs a server that was signed in at",
    **{
        ("flow", name): "it asks a server"
        for name in (
            *("list", "show", "export", "import", "remove", "revisions", "restore"),
            *("start", "duplicate", "update-components"),
        )
    },
    ("runs", "cancel"): "it asks a server",
    **{("flow", "schedule", name): "it asks a server" for name in ("add", "list", "switch", "edit", "remove")},
    ("worker",): "it works until it is stopped, on Postgres",
    **{("jobs", name): "a worker has to have it" for name in ("show", "cancel", "retry")},
    ("approvals", "withdraw"): "a conversation has to wait for an answer",
    **{("models", name): "it asks a server" for name in ("set-key", "remove-key")},
    **{("langflow", name): "it asks a Langflow server" for name in ("connect", "disconnect", "flows", "folders")},
    **{("flow", name): "it asks a Langflow server" for name in ("pull", "push")},
    ("mcp",): "it speaks with a client until that leaves",
    **{("bundles", name): "it asks a server" for name in ("list", "install")},
    **{("eval", "results", name): "it asks a server" for name in ("list", "show", "get")},
    ("eval", "judge"): "it asks a provider",
    ("eval", "calibrate"): "it asks a provider",
    ("eval", "export"): "it sends to Logfire",
}
"""Commands whose examples no test can run."""
NOT_HERE = {"wirewright runner install --with lfx-anthropic": "it downloads a package into the shared engine"}
ENGINE = {
    *(("ask",), ("chat",), ("flow", "run"), ("flow", "test"), ("eval", "conversations"), ("runner", "install")),
    *(("flow", "sessions", name) for name in ("list", "show", "remove")),
    *(("conversations", name) for name in ("list", "show", "rename", "remove", "rewind")),
    *(("eval", name) for name in ("run", "score", "check", "compare", "list", "show", "report", "mutate", "fix")),
}


BEFORE = {
    ("flow", "sessions"): ["wirewright flow run echo.json --input hi --session monday"],
    ("conversations",): ["wirewright ask 'What does the Chat Input do?' --session monday --model demo"],
}
"""What is done before the examples of a group."""


def examples(path: tuple[str, ...]) -> list[str]:
    """The lines under `Example` in a command's help."""
    epilog: str = getattr(COMMANDS[path], "epilog", None) or ""
    title, *lines = re.sub(r"\\\n\s*", "", epilog).splitlines() or [""]
    assert title in ("Example:", "Examples:"), path
    return [line.strip() for line in lines]


def shell(line: str, folder: Path, command: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """What a shell that finds the command makes of a line in a folder with data of its own."""
    binaries = os.pathsep.join([str(command.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": binaries, "WIREWRIGHT_DATA": str(folder / "data"), **variables}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory, wirewright_command: Path) -> Path:
    """A folder with the files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "echo.flow").write_text(ECHO)
    (folder / "louder.flow").write_text(LOUDER)
    (folder / "inputs.jsonl").write_text('"hello"\n"bye"\n')
    (folder / "handbook.pdf").write_bytes(b"%PDF-1.4")
    (folder / "report.csv").write_text("a,b\n1,2\n")
    (folder / "key.txt").write_text("secret\n")
    (folder / "component.py").write_text("x = 1\n")
    imported = ROOT / "tests" / "evals" / "imports" / "data"
    shutil.copyfile(imported / "query.json", folder / "query.json")
    shutil.copyfile(imported / "checks.json", folder / "checks.json")
    (folder / "mine").mkdir()
    for name in ("echo", "echo-wired", "refuse-weather", "refuse-keys", "question-count"):
        shutil.copyfile(ROOT / "evals" / "scenarios" / f"{name}.yaml", folder / "mine" / f"{name}.yaml")
    for line in (
        "wirewright eval pack create mine --name mine --pack-version 1 --share 0.5 --out mine.zip",
        "wirewright flow build echo.flow --out echo.json",
        "wirewright files add report.csv",
        "wirewright variables set SERPAPI_API_KEY < key.txt",
        "wirewright users add grace@example.org",
        "wirewright users export grace@example.org --out grace.zip",
        "wirewright backup wirewright.zip",
    ):
        assert shell(line, folder, wirewright_command).returncode == 0
    asyncio.run(_record_run(folder))
    return folder


async def _record_run(folder: Path) -> None:
    database = Database(AssistantSettings(data=folder / "data").database_url, folder / "data")
    entry = RunEntry(
        id="4f1c",
        flow="f",
        name="Echo",
        source="cli",
        input="hi",
        output="hi",
        error=None,
        seconds=1.0,
        input_tokens=0,
        output_tokens=0,
    )
    runs = RunLog(database)
    runs.record(LOCAL_USER, entry)
    await runs.aclose()
    await database.aclose()


@pytest.fixture(scope="session")
def played(prepared: Path, warm_cache: Path, wirewright_command: Path) -> Path:
    """The same folder, with a journal, which the engine made."""
    play = "wirewright eval run --player oracle --scenario build-only --out"
    journal = f"{play} attempts.jsonl && cp attempts.jsonl before.jsonl"
    done = shell(journal, prepared, wirewright_command, WIREWRIGHT_CACHE=str(warm_cache))
    assert done.returncode == 0, done.stderr
    return prepared


def test_every_command_ends_its_help_with_one_to_three_examples() -> None:
    for path in COMMANDS:
        assert 1 <= len(examples(path)) <= 3, path
        assert all(f"wirewright {' '.join(path)}" in line for line in examples(path)), path


def run_examples(path: tuple[str, ...], source: Path, folder: Path, command: Path) -> None:
    """Run the examples of a command one after another in a copy of a folder."""
    shutil.copytree(source, folder)
    for line in (*BEFORE.get(path[:-1], ()), *examples(path)):
        if line not in NOT_HERE:
            done = shell(line, folder, command)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
            assert "Traceback" not in done.stderr


@pytest.mark.table
@pytest.mark.parametrize("path", [path for path in COMMANDS if path not in ENGINE | NEEDS_OTHERS.keys()], ids=" ".join)
def test_examples_work(path: tuple[str, ...], prepared: Path, tmp_path: Path, wirewright_command: Path) -> None:
    run_examples(path, prepared, tmp_path / "here", wirewright_command)


@pytest.mark.engine
@pytest.mark.parametrize("path", sorted(ENGINE), ids=" ".join)
@pytest.mark.usefixtures("warm_engine")
def test_examples_that_run_flows_work(
    path: tuple[str, ...], played: Path, tmp_path: Path, wirewright_command: Path
) -> None:
    run_examples(path, played, tmp_path / "here", wirewright_command)
