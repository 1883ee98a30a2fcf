"""What runs reach by unguarded code: open runs any port by TCP and UDP, verification runs at most the gateway's."""

import socket
from collections.abc import Iterator

import pytest

from flows.document import JsonObject
from runtime.options import Network
from runtime.runner import Runner
from tests.runtime.attempts import REFUSED, MakeCode, needs, outcome

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

CONNECT = "return socket.create_connection(('127.0.0.1', {port}), 3).getpeername()[1]"


@pytest.fixture
def other() -> Iterator[int]:
    """The port of another service of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made.getsockname()[1]


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


@pytest.mark.parametrize(
    "attempt",
    [
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
async def test_an_open_run_has_no_sockets_but_those_of_tcp_and_udp(
    attempt: str, runner: Runner, make_code: MakeCode, active: frozenset[str], other: int
) -> None:
    needs(active, "listening")
    assert await tried(runner, make_code, attempt, other) == REFUSED


async def test_tcp_udp_and_names_are_in_reach_of_open_runs(runner: Runner, make_code: MakeCode, other: int) -> None:
    assert await tried(runner, make_code, CONNECT, other) == {"escaped": str(other)}
    sent = "return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'four', ('127.0.0.1', {port}))"
    assert await tried(runner, make_code, sent, other) == {"escaped": "4"}
    looked_up = "return sorted({each[4][0] for each in socket.getaddrinfo('localhost', {port}, socket.AF_INET)})"
    assert await tried(runner, make_code, looked_up, other) == {"escaped": "['127.0.0.1']"}


async def test_each_run_has_its_own_network_when_both_kinds_come_by_turns(
    runner: Runner, make_code: MakeCode, active: frozenset[str], other: int
) -> None:
    needs(active, "network of verification runs with models")
    gateway = await runner._gateway._started()
    for _ in range(2):
        assert await tried(runner, make_code, CONNECT, other) == {"escaped": str(other)}
        assert await tried(runner, make_code, CONNECT, other, "gateway-only") == REFUSED
        assert await tried(runner, make_code, "return socket.socket()", other, "gateway-only") == REFUSED
        for port, ended in ((other, REFUSED), (gateway.port, {"escaped": str(gateway.port)})):
            assert await tried(runner, make_code, CONNECT, port, "gateway-only", gateway.url) == ended
        assert await tried(runner, make_code, CONNECT, gateway.port, "open", gateway.url) == {
            "escaped": str(gateway.port)
        }


async def test_no_run_can_listen_on_a_port_that_nobody_bound(
    runner: Runner, make_code: MakeCode, active: frozenset[str], other: int
) -> None:
    needs(active, "listening")
    gateway = await runner._gateway._started()
    listening = "s = socket.socket()\ns.listen()\nreturn s.getsockname()"
    assert await tried(runner, make_code, listening, other, "gateway-only", gateway.url) == REFUSED
    assert await tried(runner, make_code, listening, other) == REFUSED
