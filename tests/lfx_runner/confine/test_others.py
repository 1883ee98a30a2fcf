"""A confined process learns nothing of others by their numbers, and locks no file that others use."""

import fcntl
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="numbers of Linux on x86_64"
)

ROOT = Path(__file__).parents[3]
PRELUDE = """
import ctypes, errno, fcntl, json, os, resource, sqlite3, sys, tempfile, threading, time
from pathlib import Path
from lfx_runner.confine import policy
victim, shared = int(sys.argv[1]), sys.argv[2]
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(256)
def call(*arguments):
    if (got := libc.syscall(*arguments)) < 0: raise OSError(ctypes.get_errno(), "refused")
    return got
os.setsid()
policy.prepare()
private = Path(tempfile.mkdtemp())
held = [*policy.confine_process(private, Path(shared).parent), *policy.confine_network(30)]
def tried(attempts):
    found = {}
    for name, attempt in attempts.items():
        try:
            attempt()
            found[name] = "done"
        except Exception as stopped:
            found[name] = errno.errorcode.get(getattr(stopped, "errno", None) or 0, type(stopped).__name__)
    return found
"""
ASKS = """
def of(pid):
    return tried({
        "getpgid": lambda: os.getpgid(pid),
        "getsid": lambda: os.getsid(pid),
        "affinity": lambda: os.sched_getaffinity(pid),
        "parameters": lambda: os.sched_getparam(pid),
        "scheduler": lambda: os.sched_getscheduler(pid),
        "priority": lambda: os.getpriority(os.PRIO_PROCESS, pid),
        "priority of a group": lambda: os.getpriority(os.PRIO_PGRP, pid),
        "limits": lambda: resource.prlimit(pid, resource.RLIMIT_CPU),
        "clock": lambda: time.clock_gettime(~pid << 3 | 2),
        "resolution of its clock": lambda: time.clock_getres(~pid << 3 | 2),
        "sleep by its clock": lambda: call(230, ~pid << 3 | 2, 0, buffer, None),
        "signal": lambda: os.kill(pid, 0),
    })
gone = 2**22 - 7
own = {
    "getpgid": lambda: os.getpgid(os.getpid()),
    "getsid": lambda: os.getsid(0),
    "affinity": lambda: os.sched_getaffinity(0),
    "priority": lambda: os.getpriority(os.PRIO_PROCESS, 0),
    "limits": lambda: resource.prlimit(os.getpid(), resource.RLIMIT_CPU),
    "own limits": lambda: resource.getrlimit(resource.RLIMIT_CPU),
    "processors": lambda: os.cpu_count() or 1 / 0,
    "clocks": lambda: (time.thread_time(), time.process_time(), time.monotonic(), time.sleep(0)),
}
machine = {
    "sysinfo": lambda: call(99, buffer),
    "/proc/stat": lambda: open("/proc/stat").read(),
    "/proc/loadavg": lambda: open("/proc/loadavg").read(),
    "/proc": lambda: os.listdir("/proc/self"),
    "control groups": lambda: os.listdir("/sys/fs/cgroup"),
}
print(json.dumps({"held": held, "victim": of(victim), "gone": of(gone), "own": tried(own), "machine": tried(machine)}))
"""
LOCKS = """
descriptor = os.open(shared, os.O_RDONLY)
def part(command, kind):
    import struct
    fcntl.fcntl(descriptor, command, struct.pack("hhqqi4x", kind, 0, 0, 0, 0))
def table():
    db = sqlite3.connect(private / "a.db", timeout=1)
    db.execute("pragma journal_mode=wal").fetchone()
    db.execute("create table t (x)")
    with db: db.execute("insert into t values (1)")
    other = sqlite3.connect(private / "a.db", timeout=1)
    with other: other.execute("insert into t values (2)")
    assert other.execute("select sum(x) from t").fetchone() == (3,)
found = tried({
    "flock": lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB),
    "read lock": lambda: part(fcntl.F_SETLK, fcntl.F_RDLCK),
    "lock of the file": lambda: part(37, fcntl.F_RDLCK),
    "lock that waits": lambda: part(fcntl.F_SETLKW, fcntl.F_RDLCK),
    "sqlite": table,
})
print(json.dumps({"held": held, "found": found}), flush=True)
sys.stdin.read()
"""
LINKS = """
made = 0
try:
    for made in range(100_000): os.symlink("x" * int(sys.argv[3]), private / "tmp" / str(made))
except OSError as full:
    print(json.dumps({"held": held, "made": made, "errno": full.errno}))
else:
    print(json.dumps({"held": held, "made": made, "errno": 0}))
"""


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same user, in a session of its own."""
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as process:
        yield process
        assert process.poll() is None


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A file of the machine that the process may read."""
    path = tmp_path / "readable" / "file"
    path.parent.mkdir()
    path.write_text("read me")
    return path


def started(script: str, *arguments: object) -> "subprocess.Popen[str]":
    """A process that confines itself and goes on with a script."""
    command = [sys.executable, "-c", PRELUDE + script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def answer(script: str, *arguments: object) -> dict[str, Any]:
    """What such a process prints."""
    with started(script, *arguments) as process:
        text, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return json.loads(text)


def test_nothing_tells_whether_a_process_is_there(victim: "subprocess.Popen[bytes]", shared: Path) -> None:
    found = answer(ASKS, victim.pid, shared)
    assert "system calls" in found["held"]
    assert found["victim"] == found["gone"]
    assert "done" not in found["victim"].values()
    assert set(found["own"].values()) == {"done"}, found["own"]
    if "file names" in found["held"]:
        assert "done" not in found["machine"].values(), found["machine"]


def test_a_lock_on_a_file_of_the_machine_has_no_effect_and_tables_work(shared: Path) -> None:
    with started(LOCKS, os.getpid(), shared) as process:
        assert process.stdout is not None
        found = json.loads(process.stdout.readline())
        assert set(found["found"].values()) == {"done"}, found
        with shared.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        process.communicate()


@pytest.mark.parametrize("length", [1, 100, 4_000])
def test_links_are_limited_by_their_number_and_their_length(length: int, shared: Path) -> None:
    found = answer(LINKS, os.getpid(), shared, length)
    if "folder size" not in found["held"]:
        pytest.skip("not on this kernel: folder size")
    assert found["errno"] == 28
    assert found["made"] <= 16_384
