"""Signals of a confined process reach itself alone, also on kernels whose Landlock knows no scope of signals."""

import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="numbers of Linux on x86_64"
)

ROOT = Path(__file__).parents[3]
LANDLOCK = (0, 1, 5, 7)
"""Versions of Landlock: none, the first, the last without a scope of signals, one with it."""
CONFINED = """
import ctypes, fcntl, json, os, signal, socket, sys, tempfile, threading, time
from pathlib import Path
from lfx_runner.confine import landlock, policy
victim, version = int(sys.argv[1]), int(sys.argv[2])
real = landlock.abi()
landlock.abi = lambda: min(real, version)
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(128)
def call(*arguments):
    if (got := libc.syscall(*arguments)) < 0: raise OSError(ctypes.get_errno(), "refused")
    return got
def by_input():
    "A signal that the kernel sends when there is something to read."
    reading, writing = socket.socketpair()
    fcntl.fcntl(reading, fcntl.F_SETOWN, victim)
    fcntl.fcntl(reading, 10, signal.SIGTERM)
    fcntl.fcntl(reading, fcntl.F_SETFL, fcntl.fcntl(reading, fcntl.F_GETFL) | os.O_ASYNC)
    writing.send(b"x")
def by_input_of_a_group():
    reading, writing = socket.socketpair()
    fcntl.fcntl(reading, 15, bytes(ctypes.c_int(1)) + bytes(ctypes.c_int(victim)))
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC)
    writing.send(b"x")
own = os.getpid()
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append("seen"))
pidfd = os.pidfd_open(victim)
os.setsid()
policy.prepare()
held = [*policy.confine_process(Path(tempfile.mkdtemp())), *policy.confine_network(30)]
attempts = {
    "kill": lambda: os.kill(victim, signal.SIGTERM),
    "kill nothing": lambda: os.kill(victim, 0),
    "kill a group": lambda: os.killpg(victim, signal.SIGTERM),
    "kill everybody": lambda: os.kill(-1, 0),
    "kill with more bits": lambda: call(62, ctypes.c_ulong((own << 32) | victim), 0),
    "tgkill": lambda: call(234, victim, victim, signal.SIGTERM),
    "tkill": lambda: call(200, victim, signal.SIGTERM),
    "rt_sigqueueinfo": lambda: call(129, victim, signal.SIGTERM, buffer),
    "rt_tgsigqueueinfo": lambda: call(297, victim, victim, signal.SIGTERM, buffer),
    "pidfd_open": lambda: call(434, victim, 0),
    "pidfd_send_signal": lambda: call(424, pidfd, signal.SIGTERM, None, 0),
    "input": by_input,
    "input of a group": by_input_of_a_group,
    "own": lambda: os.kill(own, 0),
    "own group": lambda: os.killpg(own, 0),
    "current group": lambda: os.kill(0, 0),
    "raise": lambda: signal.raise_signal(signal.SIGUSR1),
    "own thread": lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1),
}
found = {}
for name, attempt in attempts.items():
    try:
        attempt()
        found[name] = 0
    except OSError as refused:
        found[name] = refused.errno
print(json.dumps({"held": held, "found": found, "seen": len(seen)}))
"""
OWN = {"own", "own group", "current group", "raise", "own thread"}


@pytest.fixture
def victim() -> Iterator[int]:
    """A process of the same user in a group of its own, which must be alive afterwards."""
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as process:
        yield process.pid
        assert process.poll() is None


@pytest.mark.parametrize("version", LANDLOCK)
def test_a_process_signals_itself_and_nobody_else(victim: int, version: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CONFINED, str(victim), str(version)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "signals" in answer["held"]
    assert {name for name, code in answer["found"].items() if not code} == OWN
    assert answer["seen"] == 2
