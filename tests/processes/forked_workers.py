"""The workers of pytest-xdist, forked from one process that has imported the tests: see `worker_server.py`.

A pytest plugin. Importing takes each worker many seconds, and in a fresh checkout all would compile the same modules.
"""

import select
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import execnet
import pytest

SERVER = Path(__file__).parent / "worker_server.py"
COLLECTION_SECONDS = 600
WORKER = """#!{python} -IS
import os, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    try:
        server.connect({address!r})
    except OSError:  # a worker in place of one that crashed
        os.execv({python!r}, [{python!r}, *sys.argv[1:]])
    socket.send_fds(server, [b"x"], [0, 1])
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    server.recv(1)
"""
"""Stands for the interpreter of a worker."""

_SERVER = pytest.StashKey["subprocess.Popen[bytes]"]()
_FOLDER = pytest.StashKey["tempfile.TemporaryDirectory[str]"]()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[execnet.XSpec]) -> None:
    """Collect in a process of its own, from which local workers are forked."""
    local = [spec for spec in specs if spec.popen and not spec.python and not spec.chdir]
    if not local or sys.platform != "linux":
        return
    folder = config.stash[_FOLDER] = tempfile.TemporaryDirectory(prefix="workers-")
    address, worker = Path(folder.name) / "socket", Path(folder.name) / "worker"
    worker.write_text(WORKER.format(python=sys.executable, address=str(address)))
    worker.chmod(0o755)
    command = [sys.executable, str(SERVER), str(address), str(len(local)), *map(str, config.args)]
    server = config.stash[_SERVER] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout is not None
    assert select.select([server.stdout], [], [], COLLECTION_SECONDS)[0], "the tests were not collected in time"
    if (said := server.stdout.readline()) != b"ready\n":
        raise pytest.UsageError((said + server.stdout.read()).decode(errors="replace"))
    for spec in local:
        spec.python = str(worker)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End the process, whose workers have ended."""
    server = config.stash.get(_SERVER, None)
    if server is None:
        return
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.close()
    server.stdout.close()
    server.wait()
    config.stash[_FOLDER].cleanup()
