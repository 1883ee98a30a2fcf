"""The server is out of reach of open runs, by every way that unguarded code has; all else stays in reach."""

import socket
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from flows.document import Flow, JsonObject
from runtime.install.environment import RunnerEnvironment
from runtime.options import Network
from runtime.runner import Runner
from tests.runtime.attempts import REFUSED, MakeCode, needs, outcome

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

CONNECT = "return socket.create_connection(('127.0.0.1', {port}), 3).getpeername()[1]"


@pytest.fixture(scope="module", autouse=True)
def holds(active: frozenset[str]) -> None:
    """Nothing to try where the status says that it does not hold."""
    needs(active, "the server's port")


@pytest.fixture(scope="module")
def bound() -> Iterator[int]:
    """A port of loopback, the same for all tests: the engine replaces the processes that wait when it is another."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made.getsockname()[1]


@pytest.fixture
def server(runner: Runner, bound: int) -> Iterator[int]:
    """The port of the server that the runner belongs to."""
    runner.closed_ports = (bound,)
    yield bound
    runner.closed_ports = ()


@pytest.fixture
def other() -> Iterator[int]:
    """The port of another service of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made.getsockname()[1]


def waiting(runner: Runner) -> list[str]:
    """The engine's own processes: while nothing runs, those that wait ready."""
    return Path(f"/proc/{runner.engine_pid}/task/{runner.engine_pid}/children").read_text(encoding="ascii").split()


async def tried(
    runner: Runner,
    make_code: MakeCode,
    attempt: str,
    port: int,
    network: Network = "open",
    gateway: str | None = None,
) -> JsonObject:
    """What became of an attempt: `stopped` with an exception's name, or `escaped` with what it got."""
    return await outcome(runner, make_code, attempt.replace("{port}", str(port)), network, gateway)


WAYS = [
    CONNECT,
    "return socket.create_connection(('::ffff:127.0.0.1', {port}), 3).getpeername()[1]",
    "return socket.create_connection(('0.0.0.0', {port}), 3).getpeername()[1]",
    "s = socket.socket()\ns.setsockopt(6, 30, 1)\ns.connect(('127.0.0.1', {port}))\ns.send(b'x')\nreturn {port}",
    (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
        "    return pool.submit(socket.create_connection, ('127.0.0.1', {port}), 3).result().getpeername()[1]"
    ),
]
"""Ways to connect that lead to a port unless it is closed."""


@pytest.mark.parametrize("attempt", WAYS)
async def test_an_open_run_connects_to_any_port_but_the_servers(
    attempt: str, runner: Runner, make_code: MakeCode, server: int, other: int
) -> None:
    assert await tried(runner, make_code, attempt, server) == REFUSED
    assert await tried(runner, make_code, attempt, other) == {"escaped": str(other)}


@pytest.mark.parametrize(
    "attempt",
    [
        "return socket.create_connection(('::1', {port}), 3).getpeername()",
        "return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)",  # MPTCP
        "return socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 262)",
        "return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)",  # SCTP
        "return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256)",  # SMC as a protocol
        "return socket.socket(43, socket.SOCK_STREAM)",  # SMC as a family
        "return socket.socket().setsockopt(6, 31, b'smc')",  # a TCP socket that becomes one
        "return socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', {port}))",  # TCP Fast Open
        "return socket.socket().sendmsg([b'x'], [], 0x20000000, ('127.0.0.1', {port}))",
        "return socket.socket(socket.AF_INET, socket.SOCK_RAW, 6)",
        "return socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        "return socket.socket(socket.AF_UNIX)",
        "return socket.socket(40, socket.SOCK_STREAM)",  # between a virtual machine and its host
    ],
)
async def test_no_way_round_leads_an_open_run_to_the_server(
    attempt: str, runner: Runner, make_code: MakeCode, server: int
) -> None:
    assert await tried(runner, make_code, attempt, server) == REFUSED


async def test_udp_and_names_stay_in_reach_of_open_runs(runner: Runner, make_code: MakeCode, server: int) -> None:
    sent = "return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'four', ('127.0.0.1', {port}))"
    assert await tried(runner, make_code, sent, server) == {"escaped": "4"}
    named = "return socket.create_connection(('localhost', {port}), 3)"
    assert await tried(runner, make_code, named, server) == REFUSED
    looked_up = "return sorted({each[4][0] for each in socket.getaddrinfo('localhost', {port}, socket.AF_INET)})"
    assert await tried(runner, make_code, looked_up, server) == {"escaped": "['127.0.0.1']"}


async def test_each_run_has_its_own_network_when_both_kinds_come_by_turns(
    runner: Runner, make_code: MakeCode, server: int, other: int
) -> None:
    gateway = await runner._gateway._started()
    for _ in range(2):
        assert await tried(runner, make_code, CONNECT, server) == REFUSED
        assert await tried(runner, make_code, CONNECT, other) == {"escaped": str(other)}
        assert await tried(runner, make_code, CONNECT, other, "gateway-only") == REFUSED
        assert await tried(runner, make_code, "return socket.socket()", other, "gateway-only") == REFUSED
        for port, ended in ((other, REFUSED), (server, REFUSED), (gateway.port, {"escaped": str(gateway.port)})):
            assert await tried(runner, make_code, CONNECT, port, "gateway-only", gateway.url) == ended
        assert await tried(runner, make_code, CONNECT, gateway.port, "open", gateway.url) == {
            "escaped": str(gateway.port)
        }


async def test_waiting_processes_are_replaced_when_the_server_moves(
    runner: Runner, make_code: MakeCode, server: int, other: int, echo: Flow
) -> None:
    assert (await runner.run(echo, "hello")).output == "hello"
    runner.closed_ports = (other,)
    assert await tried(runner, make_code, CONNECT, other) == REFUSED
    assert await tried(runner, make_code, CONNECT, server) == {"escaped": str(server)}
    runner.closed_ports = (server, other)
    assert await tried(runner, make_code, CONNECT, other) == REFUSED
    assert await tried(runner, make_code, CONNECT, server) == REFUSED
    runner.closed_ports = ()
    assert await tried(runner, make_code, CONNECT, other) == {"escaped": str(other)}


async def test_as_many_processes_wait_ready_as_before_when_the_ports_have_changed(
    runner: Runner, echo: Flow, server: int, other: int
) -> None:
    assert (await runner.run(echo, "hello")).output == "hello"
    for ports in ((other,), (), (other,), ()):
        runner.closed_ports = ports
        assert (await runner.run(echo, "hello")).output == "hello"
    for _ in range(100):  # those that are replaced end while nobody waits for it
        if len(waiting(runner)) <= 2:
            break
        await anyio.sleep(0.1)
    assert len(waiting(runner)) <= 2


async def test_the_ports_are_closed_from_the_first_run_when_they_are_known_before_the_start(
    warm_environment: RunnerEnvironment, make_code: MakeCode, other: int
) -> None:
    made = Runner(warm_environment, concurrency=1)
    made.closed_ports = (other,)
    async with made:
        assert await made.ready(180)
        assert await tried(made, make_code, CONNECT, other) == REFUSED


async def test_what_waits_ready_becomes_of_the_kinds_that_come(
    warm_environment: RunnerEnvironment, make_code: MakeCode, other: int
) -> None:
    made = Runner(warm_environment, concurrency=1)
    made.closed_ports = (other,)
    async with made:
        assert await made.ready(180)
        kinds: list[Network] = ["gateway-only", "gateway-only", "open", "open", "gateway-only", "open"]
        for network in kinds:  # one process waits: it fits the kind of the run before
            assert await tried(made, make_code, CONNECT, other, network) == REFUSED


async def test_a_verification_run_cannot_listen_on_a_port_that_nobody_bound(
    runner: Runner, make_code: MakeCode, server: int
) -> None:
    gateway = await runner._gateway._started()
    listening = "s = socket.socket()\ns.listen()\nreturn s.getsockname()"
    assert await tried(runner, make_code, listening, server, "gateway-only", gateway.url) == REFUSED
    assert await tried(runner, make_code, listening, server) == REFUSED
