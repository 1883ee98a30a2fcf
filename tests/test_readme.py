"""The README does what it says: its Python runs, its spec builds, its commands exist."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from typer.main import get_command

from cli.main import command_line
from flows.catalogue import Catalogue
from flows.checks import check
from flows.spec import build

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("code", "printed"), list(zip(blocks("python"), ["ChatInput", "Echo hello\n", "ChatInput"], strict=True))
)
def test_the_python_examples_run_without_a_warning(code: str, printed: str, warm_engine: None) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LOGFIRE_IGNORE_NO_CONFIG"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout
    assert not done.stderr


def test_the_example_spec_builds_and_checks_clean(catalogue: Catalogue) -> None:
    (spec,) = blocks("text")
    built = build(spec, catalogue)
    assert built.flow is not None, built.faults
    assert check(built.flow, catalogue) == []


@pytest.mark.engine
def test_the_first_example_gives_what_it_shows(tmp_path: Path, warm_engine: None, wirewright_command: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "bin").symlink_to(wirewright_command.parent, target_is_directory=True)
    shown = blocks("console")[0]
    commands = re.findall(r"^\$ (.*)$", shown, re.MULTILINE)
    expected = re.split(r"^\$ .*\n", shown, flags=re.MULTILINE)[1:]
    assert len(commands) == len(expected) == 2
    for command, output in zip(commands, expected, strict=True):
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stderr
        assert done.stdout == output


def test_the_commands_of_the_tour_exist(wirewright_command: Path) -> None:
    for command in re.findall(r"^\$ wirewright (\w+ \w+)", blocks("console")[1], re.MULTILINE):
        done = subprocess.run(
            [wirewright_command, *command.split(), "--help"], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, command


def leaves(command: object, *path: str) -> Iterator[tuple[tuple[str, ...], object]]:
    """The commands below one, with the words that call each."""
    inner: Mapping[str, object] | None = getattr(command, "commands", None)
    if inner is None:
        yield path, command
    for name, each in (inner or {}).items():
        yield from leaves(each, *path, name)


def test_the_tour_names_every_command() -> None:
    named = set(re.findall(r"^\$ (?:\.venv/bin/)?wirewright (\w+)", "".join(blocks("console")), re.MULTILINE))
    assert named >= {name for (name, *_), _ in leaves(get_command(command_line()))}


def test_the_tour_says_the_truth_about_json() -> None:
    options = {
        path: {one for each in vars(found)["params"] for one in each.opts}
        for path, found in leaves(get_command(command_line()))
    }
    assert [path for path, names in options.items() if "--json" not in names] == [("mcp",)], "it speaks a protocol"


def test_make_knows_every_target_that_the_documents_name() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"`?make ([\w-]+)", README + (ROOT / "CONTRIBUTING.md").read_text()))
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert named <= targets
