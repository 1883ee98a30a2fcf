"""Escapes, tried by unguarded code inside a real run: each is stopped where the kernel can, and listed where not."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.document import Flow
from runtime.engine import queue
from runtime.runner import Runner
from tests.runtime.unguarded import run_unguarded
from tests.shared.attempts import MakeCode, needs, outcome

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

SHARED = """
held = mmap.mmap(os.open('/dev/zero', os.{mode}), 4 * 1024**3, mmap.MAP_SHARED, mmap.{protection})
for place in range(0, len(held), 4096): {touch}
return 'held'
"""
GROWING_DOWN = """
held = mmap.mmap(-1, 4 * 1024**3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100)
for place in range(0, len(held), 4096): held[place] = 1
return 'held'
"""
UNWRITABLE = """
libc, held, size = ctypes.CDLL(None), [], 256 * 1024**2
for _ in range(16):
    held.append(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for place in range(0, size, 4096): held[-1][place] = 1
    start = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(held[-1])))
    assert libc.mprotect(start, ctypes.c_size_t(size), mmap.PROT_READ) == 0
return 'held'
"""
"""Memory beyond the limit of data: of a device, growing like a stack, and no longer writable once it is full."""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A TCP port on loopback that stands for the server, or for somebody to tell secrets to."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """A file of another user of this machine, which must be the same afterwards."""
    path = tmp_path / "canary.txt"
    path.write_text("the canary")
    yield path
    assert path.read_text() == "the canary"


@pytest.mark.parametrize(
    "attempt",
    [
        "return open('{canary}').read()",
        "return open('/etc/passwd').read()",
        "return os.listdir('/root')",
        "return os.listdir('/')",
        "return open('/proc/{server}/environ').read()",
        "return open('/proc/{server}/maps').read()",
        "return open('/proc/{engine}/environ').read()",
        "return open('/proc/' + str(os.getppid()) + '/mem', 'rb').read(1)",
        "os.symlink('{canary}', 'link')\nreturn open('link').read()",
        "open('{canary}', 'w').write('gone')\nreturn 'written'",
        "open('/tmp/left-behind', 'w').write('x')\nreturn 'written'",
        "open(os.path.dirname(os.__file__) + '/os.py', 'a').write('#')\nreturn 'written'",
        "import lfx\nopen(lfx.__file__, 'a').write('#')\nreturn 'written'",
        "os.remove('{canary}')\nreturn 'removed'",
        "os.rename('{canary}', 'mine')\nreturn 'moved'",
        "os.chmod('/tmp', 0o777)\nreturn os.listdir('/tmp')",
        "os.link('{canary}', 'hard')\nreturn open('hard').read()",
        "os.truncate('{canary}', 0)\nreturn 'emptied'",
    ],
)
async def test_files_of_others_cannot_be_read_or_changed(
    attempt: str, runner: Runner, make_code: MakeCode, canary: Path, active: frozenset[str]
) -> None:
    needs(active, "file system")
    places = {"canary": str(canary), "server": str(os.getpid()), "engine": str(runner.engine_pid)}
    for name, place in places.items():
        attempt = attempt.replace(f"{{{name}}}", place)
    assert "stopped" in await outcome(runner, make_code, attempt)


@pytest.mark.parametrize(
    "attempt",
    [
        "return os.fork()",
        "return subprocess.run(['/bin/echo', 'hi'], capture_output=True).stdout",
        "return os.posix_spawn('/bin/true', ['/bin/true'], {})",
        "os.execv('/bin/true', ['/bin/true'])",
        "import multiprocessing\nreturn multiprocessing.get_context('fork').Process(target=print).start()",
        "assert os.system('true') == 0\nreturn 'ran'",
        "assert ctypes.CDLL(None).vfork() >= 0\nreturn 'forked'",
    ],
)
async def test_no_process_and_no_program_can_be_started(
    attempt: str, runner: Runner, make_code: MakeCode, active: frozenset[str]
) -> None:
    needs(active, "processes")
    assert "stopped" in await outcome(runner, make_code, attempt, "open")


async def test_threads_still_work(runner: Runner, make_code: MakeCode) -> None:
    attempt = "from concurrent.futures import ThreadPoolExecutor\nreturn sum(ThreadPoolExecutor(4).map(len, ['a'] * 9))"
    assert await outcome(runner, make_code, attempt) == {"escaped": "9"}


@pytest.mark.parametrize(
    ("attempt", "protection"),
    [
        ("os.kill({engine}, 0)\nreturn 'signalled'", "signals"),
        ("os.kill(os.getppid(), signal.SIGKILL)\nreturn 'killed'", "signals"),
        ("os.kill({server}, signal.SIGTERM)\nreturn 'killed'", "signals"),
        ("assert ctypes.CDLL(None).ptrace(16, {engine}, 0, 0) == 0\nreturn 'traced'", "processes"),
        ("resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))\nreturn 'raised'", "processes"),
        ("assert ctypes.CDLL(None).unshare(0x10000000) == 0\nreturn 'unshared'", "processes"),
        ("os.chroot('.')\nreturn 'changed'", "processes"),
        ("os.setuid(12345)\nreturn os.getuid()", "privileges"),
    ],
)
async def test_other_processes_and_its_own_limits_are_out_of_reach(
    attempt: str, protection: str, runner: Runner, make_code: MakeCode, active: frozenset[str], echo: Flow
) -> None:
    needs(active, protection)
    if protection == "privileges" and os.geteuid() != 0:
        pytest.skip("only root has privileges to give up")
    attempt = attempt.replace("{engine}", str(runner.engine_pid)).replace("{server}", str(os.getpid()))
    assert "stopped" in await outcome(runner, make_code, attempt)
    assert (await runner.run(echo, "still here")).output == "still here"


@pytest.mark.parametrize(
    "attempt",
    [
        "return socket.create_connection(('127.0.0.1', {port}), 3).getsockname()",
        "return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'secret', ('127.0.0.1', {port}))",
        "return socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'secret', ('::1', {port}))",
        "return socket.getaddrinfo('example.invalid', 80)",
        "import httpx\nreturn httpx.get('http://127.0.0.1:{port}/', timeout=3).text",
        "return socket.socket(socket.AF_UNIX).fileno()",
        "return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).fileno()",
    ],
)
async def test_a_verification_run_reaches_nobody(
    attempt: str, runner: Runner, make_code: MakeCode, listener: socket.socket, active: frozenset[str]
) -> None:
    needs(active, "network of verification runs")
    attempt = attempt.replace("{port}", str(listener.getsockname()[1]))
    assert "stopped" in await outcome(runner, make_code, attempt)


@pytest.mark.parametrize(
    ("attempt", "protection"),
    [
        ("return socket.create_server(('127.0.0.1', 0)).getsockname()", "listening"),
        ("s = socket.socket()\ns.listen()\nreturn s.getsockname()", "listening"),  # on a port that nobody bound
        ("return socket.socket(socket.AF_UNIX).fileno()", "network of verification runs"),
        ("return socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).fileno()", "network of verification runs"),
        ("return socket.socket(socket.AF_PACKET, socket.SOCK_RAW).fileno()", "network of verification runs"),
    ],
)
async def test_an_open_run_cannot_listen_nor_open_other_kinds_of_sockets(
    attempt: str, protection: str, runner: Runner, make_code: MakeCode, active: frozenset[str]
) -> None:
    needs(active, protection)
    assert "stopped" in await outcome(runner, make_code, attempt, "open")


@pytest.mark.parametrize(
    ("attempt", "protection"),
    [
        ("return len(bytearray(8 * 1024**3))", "memory"),
        (
            (  # most of the limit is reserved, the rest written
                "held = [mmap.mmap(-1, 2 * 1024**3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)]\n"
                "while True: held.append(bytearray(64 * 1024**2))"
            ),
            "memory",
        ),
        ("held = []\nwhile True: held.append(mmap.mmap(-1, 1024**3))", "memory"),
        (SHARED.format(mode="O_RDWR", protection="PROT_WRITE", touch="held[place] = 1"), "memory"),
        (SHARED.format(mode="O_RDONLY", protection="PROT_READ", touch="held[place]"), "memory"),
        (GROWING_DOWN, "memory"),
        (UNWRITABLE, "memory"),
        ("held = []\nwhile True: held.append(open('/dev/null'))", "open files"),
        ("open('big', 'wb').write(bytes(100 * 1024**2))\nreturn 'written'", "file size"),
        (
            "for number in range(20): open(str(number), 'wb').write(bytes(50 * 1024**2))\nreturn 'written'",
            "folder size",
        ),
    ],
)
async def test_bombs_hit_a_limit_and_the_next_run_works(
    attempt: str, protection: str, runner: Runner, make_code: MakeCode, active: frozenset[str], echo: Flow
) -> None:
    needs(active, protection)
    ended = await outcome(runner, make_code, attempt)
    assert "stopped" in ended or ended.get("ended") in {"limit", "crash"}
    assert (await runner.run(echo, "still here")).output == "still here"


async def test_buffers_of_sockets_grow_by_no_option(
    runner: Runner, make_code: MakeCode, active: frozenset[str]
) -> None:
    needs(active, "system calls")
    attempt = """
a, b = socket.socketpair()
sizes = [a.getsockopt(socket.SOL_SOCKET, option) for option in (7, 8)]
for option in (7, 8, 32, 33): a.setsockopt(socket.SOL_SOCKET, option, 1 << 26)
a.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
return "as before" if sizes == [a.getsockopt(socket.SOL_SOCKET, option) for option in (7, 8)] else "grown"
"""
    assert await outcome(runner, make_code, attempt) == {"escaped": "as before"}


async def test_a_run_of_too_many_threads_is_ended(runner: Runner, make_code: MakeCode) -> None:
    code = """
import threading
threading.stack_size(32768)
for _ in range(5000): threading.Thread(target=time.sleep, args=[60], daemon=True).start()
time.sleep(60)"""
    result = await run_unguarded(runner, make_code(code), timeout=60)
    assert result.error is not None
    assert result.error.code == "limit"
    assert "1000" in result.error.message


@pytest.mark.parametrize(
    ("ends", "code"),
    [
        ("time.sleep(60)", "timeout"),
        ("os.kill(os.getpid(), 9)", "crash"),
        ("os._exit(3)", "crash"),
        (
            "for _ in range(3000): threading.Thread(target=time.sleep, args=[60], daemon=True).start()\ntime.sleep(60)",
            "limit",
        ),
    ],
)
@pytest.mark.parametrize("patience", [0.0, queue.KILL_TIMEOUT])
async def test_a_run_that_is_ended_says_how_much_memory_it_held(
    ends: str, code: str, patience: float, runner: Runner, make_code: MakeCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "KILL_TIMEOUT", patience)  # a process may take long to end
    holds = "import os, threading\nthreading.stack_size(32768)\nheld = bytearray(b'x') * 200_000_000\ntime.sleep(0.5)\n"
    result = await run_unguarded(runner, make_code(holds + ends), timeout=4)
    assert result.error is not None
    assert result.error.code == code
    assert 200 < result.metrics.peak_mb < 3_000


async def test_a_loop_without_end_is_stopped_when_its_time_is_up(runner: Runner, make_code: MakeCode) -> None:
    result = await run_unguarded(runner, make_code("while True: pass"), timeout=1)
    assert result.error is not None
    assert result.error.code in {"timeout", "limit"}
