"""What one run leaves in memory is out of reach of every other run, tried by unguarded code inside real runs."""

import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.document import Flow
from runtime.engine.protocol import encode
from runtime.runner import Runner
from tests.shared.attempts import MakeCode, needs, outcome

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.engine,
    pytest.mark.skipif(sys.platform != "linux", reason="reads memory by /proc"),
]

KEY = "sk-victim-5d41402abc4b2a76"
READ_MEMORY = """
needle = bytes.fromhex("{needle}")
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if "rw" not in line or end - start > 1 << 31: continue
        try:
            memory.seek(start)
            found += memory.read(end - start).count(needle)
        except (OSError, ValueError, OverflowError): pass
return found
"""
SYSCALL = """
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(4096)
class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
mine = Part(ctypes.addressof(buffer), 64)
if libc.syscall({call}) < 0: raise OSError(ctypes.get_errno(), "refused")
return "called"
"""


def memory_of(pid: int) -> Iterator[bytes]:
    """The writable memory of a process, which root and its owner may read."""
    with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if "rw" in line.split()[1]:
                memory.seek(start)
                try:
                    yield memory.read(end - start)
                except OSError:  # a device
                    continue


def holds(pid: int, word: str) -> int:
    """How often a word is in the memory of a process."""
    return sum(len(re.findall(word.encode(), part)) for part in memory_of(pid))


def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


async def test_a_run_finds_nothing_of_another_runs_request_in_its_memory(
    runner: Runner, make_code: MakeCode, echo: Flow, active: frozenset[str]
) -> None:
    for _ in range(3):
        assert (await runner.run(echo, f"my key is {KEY}")).output == f"my key is {KEY}"
    attempt = READ_MEMORY.replace("{needle}", KEY.encode().hex())
    for _ in range(3):
        ended = await outcome(runner, make_code, attempt)
        assert ended.get("escaped", "0") == "0"
        if "memory of others" in active:
            assert "stopped" in ended


async def test_the_process_that_runs_are_forked_from_never_holds_a_request_or_a_result(
    runner: Runner, make_code: MakeCode, echo: Flow
) -> None:
    assert (await runner.run(echo, f"my key is {KEY}", want_nodes=True)).ok
    failing = make_code(f"raise ValueError({KEY!r})")
    await outcome(runner, make_code, f"raise ValueError({KEY!r})")
    assert failing
    assert runner.engine_pid is not None
    assert holds(runner.engine_pid, KEY) == 0
    assert holds(runner.engine_pid, "lfx") > 0  # this does find what is there


async def test_runs_draw_other_random_numbers_than_each_other(runner: Runner, make_code: MakeCode) -> None:
    attempt = "import random, numpy, uuid\nreturn random.random(), float(numpy.random.rand()), uuid.uuid4().hex"
    drawn = [str((await outcome(runner, make_code, attempt))["escaped"]).split(", ") for _ in range(3)]
    assert all(len(set(numbers)) == 3 for numbers in zip(*drawn, strict=True)), drawn


async def test_the_kernel_confines_a_process_when_it_says_so_and_before_anything_of_the_flow_is_sent(
    runner: Runner, active: frozenset[str], echo: Flow
) -> None:
    needs(active, "system calls", "file system")
    assert (await runner.run(echo, "started")).ok
    engine = (await runner._supervisor.running()).engine
    run = engine.fork(0)
    loop = asyncio.get_running_loop()
    policy = {"type": "run", "timeout": 30, "ports": [], "files": [], "request": 1_000}
    try:
        async with asyncio.timeout(60):
            pid = await run.pid
            await loop.sock_sendall(run.connection, encode(policy))
            assert (await loop.sock_recv(run.connection, 1_000)).startswith(b'{"type":"confined"')
        status = dict(line.split(":\t") for line in _text(f"/proc/{pid}/status").splitlines())
        assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
        assert {int(status[name], 16) for name in ("CapPrm", "CapEff")} == {0}
    finally:
        await engine.end(run)


@pytest.mark.parametrize(
    "place",
    [
        "/proc/self/mem",
        "/proc/self/maps",
        "/proc/self/smaps",
        "/proc/self/pagemap",
        "/proc/self/environ",
        "/proc/thread-self/mem",
        "/proc/self/task/{run}/mem",
        "/proc/{engine}/mem",
        "/proc/{engine}/maps",
        "/proc/{engine}/environ",
        "/proc/{engine}/cmdline",
        "/proc/self/../{engine}/mem",
        "/proc/self/root/proc/{engine}/mem",
    ],
)
async def test_no_memory_and_no_map_of_it_can_be_opened(
    place: str, runner: Runner, make_code: MakeCode, active: frozenset[str]
) -> None:
    needs(active, "memory of others")
    path = repr(place.replace("{engine}", str(runner.engine_pid))).replace("{run}", "' + str(os.getpid()) + '")
    for mode in ("rb", "r+b"):
        assert "stopped" in await outcome(runner, make_code, f"return len(open({path}, {mode!r}, 0).read(1))")


@pytest.mark.parametrize(
    "call",
    [
        "310, os.getpid(), ctypes.byref(mine), 1, ctypes.byref(mine), 1, 0",  # process_vm_readv
        "310, os.getppid(), ctypes.byref(mine), 1, ctypes.byref(mine), 1, 0",
        "311, os.getpid(), ctypes.byref(mine), 1, ctypes.byref(mine), 1, 0",  # process_vm_writev
        "101, 16, os.getppid(), 0, 0",  # ptrace: attach
        "101, 0x4206, os.getppid(), 0, 0",  # seize
        "323, 0",  # userfaultfd
        "438, 0, 0, 0",  # pidfd_getfd
        "434, os.getppid(), 0",  # pidfd_open
        "440, 0, ctypes.byref(mine), 1, 20, 0",  # process_madvise
        "312, os.getpid(), os.getppid(), 0, 0, 0",  # kcmp
    ],
)
@pytest.mark.skipif("x86_64" not in __import__("platform").machine(), reason="the numbers are those of x86_64")
async def test_no_call_reads_or_follows_a_process(
    call: str, runner: Runner, make_code: MakeCode, active: frozenset[str]
) -> None:
    needs(active, "processes")
    assert "stopped" in await outcome(runner, make_code, SYSCALL.replace("{call}", call), "open")
