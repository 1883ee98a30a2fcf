"""A forked command is as one that was started: its environment, streams, folder, signals and end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest


def ran(
    command: Path | str,
    *arguments: str,
    folder: Path,
    stdin: bytes = b"",
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """A command in a folder."""
    return subprocess.run(
        [command, *arguments],
        input=stdin,
        capture_output=True,
        cwd=folder,
        env={**os.environ, **(variables or {})},
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--version"], 0), (["flow", "check", "-", "--json"], 1), (["flow", "check", "gone.json"], 2), (["nothing"], 2)],
    ids=["done", "failed", "missing", "usage"],
)
def test_it_ends_as_a_started_command_does(
    arguments: list[str], code: int, wirewright_command: Path, tmp_path: Path
) -> None:
    real = str(Path(sys.executable).with_name("wirewright"))
    spec = b"nodes:\n  a: ChatInput\nedges:\n  a.no -> a.no\n"
    forked, started = (ran(each, *arguments, folder=tmp_path, stdin=spec) for each in (wirewright_command, real))
    assert (forked.returncode, forked.stdout, forked.stderr) == (code, started.stdout, started.stderr)
    assert started.returncode == code


def test_it_has_its_own_folder_and_variables(wirewright_command: Path, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    for data in ("one", "two"):
        variables = {"WIREWRIGHT_DATA": str(tmp_path / data)}
        assert ran(wirewright_command, "files", "add", "kept.txt", folder=tmp_path, variables=variables).returncode == 0
        listed = ran(wirewright_command, "files", "list", "--json", folder=tmp_path, variables=variables)
        assert [one["path"] for one in json.loads(listed.stdout)["files"]] == ["kept.txt"]


def test_it_is_started_when_something_differs_that_imports_read(
    wirewright_command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    text = wirewright_command.read_text(encoding="utf-8")
    real = str(Path(sys.executable).with_name("wirewright"))
    other.write_text(text.replace(f"COMMAND = {real!r}", "COMMAND = '/bin/echo'"), encoding="utf-8")
    other.chmod(0o755)
    for _ in range(20):  # a busy machine may not have imported everything in time, and the command is started then
        if (first := ran(other, "-V", folder=tmp_path).stdout) != b"-V\n":
            break
    assert first.startswith(b"wirewright ")
    for name, value in (("PYTHONIOENCODING", "ascii"), ("LC_ALL", "C"), ("OPENAI_LOG", "debug")):
        assert ran(other, "-V", folder=tmp_path, variables={name: value}).stdout == b"-V\n", name
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS")
    assert ran(other, "-V", folder=tmp_path).stdout == b"-V\n"


@contextmanager
def working(command: Path, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command that has answered one line and waits for the next."""
    with subprocess.Popen(
        [command, "components", "search", "-"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"chat\n")
        process.stdin.flush()
        assert process.stdout.readline()
        yield process
        assert process.stdout.read() is not None  # ends: nobody has it open any more


@pytest.mark.parametrize(
    ("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGHUP, -signal.SIGHUP)]
)
def test_signals_reach_it(how: signal.Signals, code: int, wirewright_command: Path, tmp_path: Path) -> None:
    with working(wirewright_command, tmp_path) as process:
        process.send_signal(how)
    assert process.wait(60) == code


def test_it_ends_with_the_process_that_stands_for_it(wirewright_command: Path, tmp_path: Path) -> None:
    with working(wirewright_command, tmp_path) as process:
        process.kill()
    assert process.wait(60) == -signal.SIGKILL
