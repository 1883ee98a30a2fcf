"""Processes that fork for others go on whatever becomes of those who ask them."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.forked import ForkParent, MakeForkParent

SERVER = Path(__file__).parent / "fork_server.py"
CHILD = """
import os, signal

def ready():
    return "ready"

def kill(pid):
    os.kill(pid, signal.SIGKILL)

def live(request):
    os.write(1, request["says"].encode())
    os._exit(request["code"])
"""
REQUEST = json.dumps({"says": "hello", "code": 3}).encode()


@pytest.fixture
def address() -> Iterator[Path]:
    """Where a server of such forks listens."""
    folder = Path(tempfile.mkdtemp(prefix="forks-"))  # the name of a socket must be short
    child, found = folder.with_suffix(".py"), folder / "socket"
    child.write_text(CHILD, encoding="utf-8")
    started = [sys.executable, "-P", SERVER, child, found, str(os.getpid())]
    with subprocess.Popen(started, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b'"ready"\n'
        yield found
        server.kill()
    child.unlink()


def ask(address: Path) -> tuple[str, int]:
    """What a fork says, and its code."""
    reading, writing = os.pipe()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(address))
        socket.send_fds(connection, [b"%8d" % len(REQUEST)], [0, writing, 2])
        connection.sendall(REQUEST)
        os.close(writing)
        lines = connection.makefile("rb")
        lines.readline()
        code = int(lines.readline())
    with os.fdopen(reading, encoding="utf-8") as said:
        return said.read(), code


@pytest.mark.parametrize("sent", [None, b"%8d" % len(REQUEST), REQUEST[:5], REQUEST])
def test_it_goes_on_when_one_who_asks_is_killed(sent: bytes | None, address: Path) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(address))
        if sent is not None:
            socket.send_fds(connection, [b"%8d" % len(REQUEST)], [0, 1, 2])
        if sent in (REQUEST[:5], REQUEST):
            connection.sendall(sent)
    assert ask(address) == ("hello", 3)


def test_it_goes_on_when_what_is_asked_for_cannot_be_read(address: Path) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(address))
        socket.send_fds(connection, [b"%8d" % 3], [0, 1, 2])
        connection.sendall(b"{no")
        connection.settimeout(30)
        assert connection.makefile("rb").readline().strip().isdigit()
    assert ask(address) == ("hello", 3)


PARENTS_CHILD = """
import os, sys, time
STARTED = os.getpid()

def ready(*arguments):
    global ARGUMENTS
    ARGUMENTS = arguments

def main(*arguments):
    if arguments == ("waits",):
        time.sleep(600)
    print(STARTED, ARGUMENTS, arguments, os.getcwd(), os.environ["GIVEN"], os.environ["MORE"], sys.stdin.read())
    return 3
"""


@pytest.fixture
def parents(fork_parent: MakeForkParent, tmp_path: Path) -> tuple[ForkParent, ForkParent]:
    """Two processes of a kind, as two workers have them."""
    child = tmp_path / "child.py"
    child.write_text(PARENTS_CHILD, encoding="utf-8")

    def variables(_: Path) -> dict[str, str]:
        return {"GIVEN": "given"}

    first = fork_parent(f"test-{tmp_path.name}", sys.executable, child, "x", variables=variables)
    return first, ForkParent(first.address)


def said(parent: ForkParent, folder: Path, *arguments: str) -> list[str]:
    """What a child says, which must end as it should."""
    done = parent.run(*arguments, folder=folder, variables={"MORE": "more"}, seconds=60, stdin="typed")
    assert (done.code, done.err) == (3, "")
    return done.out.split()


def test_one_process_forks_the_children_of_all(parents: tuple[ForkParent, ForkParent], tmp_path: Path) -> None:
    (first, *one), (second, *other) = (said(parent, tmp_path, "a") for parent in parents)
    assert first == second
    assert one == other == ["('x',)", "('a',)", str(tmp_path), "given", "more", "typed"]
    assert [parent.children() for parent in parents] == [{}, {}]


def test_a_child_that_takes_too_long_ends_its_own_process_alone(
    parents: tuple[ForkParent, ForkParent], tmp_path: Path
) -> None:
    first, second = parents
    with pytest.raises(TimeoutError, match=r"longer than 0\.2 s"):
        first.run("waits", folder=tmp_path, variables={"MORE": ""}, seconds=0.2)
    assert first.ended
    assert not second.ended
    assert said(second, tmp_path)
    second.end()
    assert second.ended
    assert said(ForkParent(first.address), tmp_path)
