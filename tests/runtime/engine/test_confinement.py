"""Escapes, tried by unguarded code inside a real run: each is stopped where the kernel can, and listed where not."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.document import Flow
from runtime.runner import Runner
from tests.runtime.unguarded import run_unguarded
from tests.shared.attempts import MakeCode, needs, outcome

pytestmark = [pytest.mark.anyio, pytest.mark.engine]


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


async def test_a_loop_without_end_is_stopped_when_its_time_is_up(runner: Runner, make_code: MakeCode) -> None:
    result = await run_unguarded(runner, make_code("while True: pass"), timeout=1)
    assert result.error is not None
    assert result.error.code in {"timeout", "limit"}
