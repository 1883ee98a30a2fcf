"""The system calls of a run: those that flows make work, and no other changes, sees or leaves behind anything."""

import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.document import Flow, JsonObject
from runtime.engine.runs.unknown_calls import BURST, OTHERS, PAUSE
from runtime.options import Network
from runtime.results import RunResult
from runtime.runner import Runner
from tests.runtime.unguarded import run_unguarded
from tests.shared.attempts import MakeCode, needs

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.engine,
    pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="numbers of Linux on x86_64"),
]

BODY = """import ctypes, mmap, fcntl
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(256)
def call(*arguments):
    if (got := libc.syscall(*arguments)) < 0: raise OSError(ctypes.get_errno(), "refused")
    return got
def attempt():
{attempt}
try:
    got = attempt()
except BaseException as stopped:
    return Data(data={{"stopped": type(stopped).__name__, "errno": getattr(stopped, "errno", None)}})
return Data(data={{"escaped": str(got)[:300]}})"""


@pytest.fixture(autouse=True)
def holds(active: frozenset[str]) -> None:
    """Nothing to try where the kernel cannot hold it."""
    needs(active, "system calls")


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """A file of somebody else, of which nothing may change."""
    path = tmp_path / "canary.txt"
    path.write_text("the canary")
    before = path.stat()
    yield path
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_mtime_ns, after.st_nlink) == (
        *(before.st_mode, before.st_uid, before.st_mtime_ns, before.st_nlink),
    )
    assert os.listxattr(path) == []


async def tried(
    runner: Runner, make_code: MakeCode, attempt: str, network: Network = "open"
) -> tuple[JsonObject, RunResult]:
    """What became of an attempt, and its run's result."""
    body = BODY.format(attempt="\n".join(f"    {line}" for line in attempt.split("\n")))
    result = await run_unguarded(runner, make_code(body), timeout=30, network=network)
    assert result.error is None, result.error
    [value] = result.outputs.values()
    assert isinstance(value, dict)
    assert value.get("stopped") not in {"NameError", "SyntaxError", "AttributeError", "TypeError"}, value
    return value, result


@pytest.mark.table
@pytest.mark.parametrize(
    ("attempt", "named"),
    [
        ("return call(29, 0x1234, 4096, 0o1600)", "shmget"),
        ("return call(68, 0x1234, 0o1600)", "msgget"),
        ("return call(64, 0x1234, 1, 0o1600)", "semget"),
        ("return call(240, b'left', 0o102, 0o600, None)", "mq_open"),
        ("return os.memfd_create('big')", "memfd_create"),
        ("return call(447, 0)", "memfd_secret"),
        ("return call(294, 0)", "inotify_init1"),
        ("return call(253)", "inotify_init"),
        ("return call(165, b'none', b'.', b'tmpfs', 0, None)", "mount"),
        ("return call(155, b'.', b'.')", "pivot_root"),
        ("return call(430, b'tmpfs', 0)", "fsopen"),
        ("return call(428, -100, b'.', 1)", "open_tree"),
        ("return call(308, 0, 0)", "setns"),
        ("return call(241, b'left')", "mq_unlink"),
        ("return call(30, 0, 0, 0)", "shmat"),
        ("return call(426, 0, 1, 0, 0, 0, 0)", "io_uring_enter"),
        ("return call(249, b'user', b'left', b'x', -3)", "request_key"),
        ("return call(300, 0, 0)", "fanotify_init"),
        ("return call(425, 8, buffer)", "io_uring_setup"),
        ("return call(248, b'user', b'left', b'x', 1, -3)", "add_key"),
        ("return call(250, 0, -3, 1)", "keyctl"),
        ("return call(321, 0, buffer, 64)", "bpf"),
        ("return call(298, buffer, 0, -1, -1, 0)", "perf_event_open"),
        ("return call(272, 0x10000000)", "unshare"),
        ("return call(304, -100, buffer, 0)", "open_by_handle_at"),
        ("return call(142, os.getppid(), buffer)", "sched_setparam"),
        ("return call(135, 0x0400000)", "personality"),
        ("os.chmod('{canary}', 0o777)", "chmod"),
        ("os.chmod('/etc', 0o777, follow_symlinks=True)", "chmod"),
        ("os.fchmod(os.open(os.__file__, os.O_RDONLY), 0o777)", "fchmod"),
        ("os.chown('{canary}', 1, 1)", "chown"),
        ("os.utime('{canary}', (1, 1))", "utimensat"),
        ("os.utime(os.open(os.__file__, os.O_RDONLY), (1, 1))", "utimensat"),
        ("os.setxattr('{canary}', 'user.left', b'x')", "setxattr"),
        ("os.setxattr('{canary}', 'user.left', b'x', follow_symlinks=False)", "lsetxattr"),
        ("return call(235, b'{canary}', None)", "utimes"),
    ],
)
async def test_a_call_that_no_flow_makes_is_not_there_and_is_named_in_the_result(
    attempt: str, named: str, runner: Runner, make_code: MakeCode, canary: Path
) -> None:
    ended, result = await tried(runner, make_code, attempt.replace("{canary}", str(canary)))
    assert ended == {"stopped": "OSError", "errno": 38}
    assert result.refused_calls == (named,)
    assert result.refused_call_counts == {named: 1}
    assert RunResult.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/dev/shm/left', 'w').write('x')\nreturn 'left'",
        "return call(452, -100, b'{canary}', 0o777, 0)",  # fchmodat2
        "os.link('{canary}', 'mine')\nreturn 'linked'",
        "os.rename('{canary}', 'mine')\nreturn 'moved'",
        "os.rename('{canary}', '{canary}.other')\nreturn 'moved'",
        "os.symlink('x', '{canary}.link')\nreturn 'linked'",
        "os.mkdir('{canary}.folder')\nreturn 'made'",
        "return fcntl.fcntl(os.open(os.path.dirname(os.__file__), os.O_RDONLY), 1026, 1)",
        "return len(mmap.mmap(-1, 4096))",
        "libc.prctl(1, 0)\nreturn call(157, 1, 0, 0, 0, 0)",
    ],
)
async def test_nothing_outside_is_changed_watched_or_left_behind(
    attempt: str, runner: Runner, make_code: MakeCode, canary: Path
) -> None:
    ended, _ = await tried(runner, make_code, attempt.replace("{canary}", str(canary)))
    assert "stopped" in ended
    assert not os.path.exists("/dev/shm/left")  # noqa: ASYNC240, PTH110, S108 - takes no time
    assert [path.name for path in canary.parent.glob("canary*")] == ["canary.txt"]


async def test_ordinary_work_needs_no_other_call(runner: Runner, make_code: MakeCode) -> None:
    work = """import shutil, sqlite3, tempfile, zipfile, threading, csv, json
open("a", "w").write("x" * 100)
shutil.copy("a", "b"); shutil.copy2("a", "c"); shutil.copytree(".", os.path.join(tempfile.mkdtemp(), "all"))
os.rename("b", "d"); os.remove("c"); os.makedirs("e/f"); shutil.rmtree("e")
with sqlite3.connect("base") as base: base.execute("create table t (x)"); base.execute("insert into t values (1)")
with zipfile.ZipFile("z.zip", "w") as packed: packed.write("a")
with zipfile.ZipFile("z.zip") as packed: packed.extractall("unpacked")
thread = threading.Thread(target=time.sleep, args=(0.01,), name="named"); thread.start(); thread.join()
with tempfile.NamedTemporaryFile() as kept: kept.write(b"x"); kept.flush(); os.fsync(kept.fileno()); kept.truncate(0)
import numpy, pandas
pandas.DataFrame({"a": numpy.arange(1000)}).to_csv("table.csv"); pandas.read_csv("table.csv").sort_values("a")
return sorted(os.listdir("."))"""
    ended, result = await tried(runner, make_code, work)
    assert "escaped" in ended, ended
    assert result.refused_calls == ()
    assert {file for file in ended["escaped"].split("'") if "." in file} == {"table.csv", "z.zip"}  # type: ignore[union-attr]


async def test_a_run_that_asks_for_unknown_calls_without_end_costs_the_runner_little(
    runner: Runner, make_code: MakeCode, echo: Flow
) -> None:
    body = BODY.format(attempt="    while True: libc.syscall(425, 0, 0)")
    started = time.monotonic()
    result = await run_unguarded(runner, make_code(body), timeout=2, network="open")
    assert result.error is not None
    assert result.error.code == "timeout"
    most = 2 * BURST + (time.monotonic() - started) / PAUSE  # as many again are answered when it is over
    assert BURST < result.refused_call_counts["io_uring_setup"] < most
    assert (await runner.run(echo, "next")).output == "next"


async def test_each_call_is_named_and_counted_however_many_others_came_before(
    runner: Runner, make_code: MakeCode
) -> None:
    attempt = """for _ in range(1_000): libc.syscall(425, 0, 0)
for number in range(100_000, 100_500): libc.syscall(number, 0, 0)
for number in (29, 68, 64, 165, 800, 165): libc.syscall(number, 0, 0)
return ctypes.get_errno()"""
    ended, result = await tried(runner, make_code, attempt)
    assert ended == {"escaped": "38"}
    counts = {"io_uring_setup": 1_000, OTHERS: 500, "shmget": 1, "msgget": 1, "semget": 1, "mount": 2, "number 800": 1}
    assert result.refused_call_counts == counts
    assert result.refused_calls == tuple(counts)


async def test_a_run_that_writes_its_own_result_neither_hides_nor_invents_a_call(
    runner: Runner, make_code: MakeCode
) -> None:
    attempt = """libc.syscall(425, 0, 0)
import gc, json
from lfx_runner.connection import Outgoing
[outgoing] = [each for each in gc.get_objects() if isinstance(each, Outgoing)]
for refused in ([], ["mount"], {"mount": 3}):
    forged = {"type": "result", "output": "forged", "refused_calls": refused, "refused_call_counts": {"mount": 3}}
    outgoing.result(json.dumps(forged, separators=(",", ":")).encode() + b"\\n", [])
time.sleep(5)"""
    body = BODY.format(attempt="\n".join(f"    {line}" for line in attempt.split("\n")))
    result = await run_unguarded(runner, make_code(body), timeout=30, network="open")
    assert result.output == "forged"
    assert result.refused_call_counts == {"io_uring_setup": 1}
    assert result.refused_calls == ("io_uring_setup",)


async def test_a_run_of_an_ordinary_flow_names_no_call(runner: Runner, echo: Flow) -> None:
    result = await runner.run(echo, "hi")
    assert result.ok
    assert "refused_calls" not in result.to_json()
