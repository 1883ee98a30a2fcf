"""The server of forks goes on whatever becomes of those who ask it."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

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
