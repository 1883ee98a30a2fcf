"""What real runs reach, tried by unguarded code inside them: the proxy and what it allows, and nothing past it."""

import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from flows.spec import build
from runtime.install.environment import RunnerEnvironment
from runtime.options import Network
from runtime.runner import Runner
from tests.runtime.unguarded import run_unguarded
from tests.shared.attempts import REFUSED, MakeCode, needs, outcome

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

CONNECT = "return socket.create_connection(('127.0.0.1', {port}), 3).getpeername()[1]"


class _Service(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length) + b"from the service"
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - as the server calls it

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def service() -> Iterator[int]:
    """The port of an HTTP service of this machine, which the operator names by its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def database() -> Iterator[int]:
    """The port of a service that speaks no HTTP, which the operator names with its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    connection.sendall(b"ready\n")
                    connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]


@pytest.fixture(scope="module")
async def named(runner_environment: RunnerEnvironment, service: int, database: int) -> AsyncIterator[Runner]:
    """A runner whose operator names a web service by its address, and a database by host and port."""
    hosts = ("127.0.0.0/30", f"localhost:{database}")
    async with Runner(runner_environment, private_hosts=hosts) as made:
        assert await made.ready(180)
        yield made


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
        CONNECT,
        "return socket.create_connection(('0.0.0.0', {port}), 3).getpeername()[1]",
        "s = socket.socket()\ns.setsockopt(6, 30, 1)\ns.connect(('127.0.0.1', {port}))\nreturn s.send(b'x')",
        (
            "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
            "    return pool.submit(socket.create_connection, ('127.0.0.1', {port}), 3).result().getpeername()[1]"
        ),
        "return socket.create_connection(('93.184.215.14', 443), 3)",
        "return socket.create_connection(('93.184.215.14', 53), 3)",
        "return socket.socket(socket.AF_INET6, socket.SOCK_STREAM)",
        "return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "return socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
        "return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)",  # MPTCP
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
        "s = socket.socket()\ns.listen()\nreturn s.getsockname()",
        "return socket.create_server(('127.0.0.1', 0)).getsockname()",
    ],
)
async def test_no_run_connects_past_the_proxy(
    attempt: str, runner: Runner, make_code: MakeCode, active: frozenset[str], other: int
) -> None:
    needs(active, "network of other runs")
    assert await tried(runner, make_code, attempt, other) == REFUSED


@pytest.mark.parametrize(
    ("attempt", "stopped"),
    [
        ("return socket.getaddrinfo('example.com', 80)", "gaierror"),
        ("return socket.create_connection(('example.com', 80), 3)", "gaierror"),
        (
            "import _socket\nreturn _socket.getaddrinfo('example.com', 80)",
            "gaierror",
        ),
        ("return socket.gethostbyname('example.com')", "gaierror"),
    ],
)
async def test_no_run_looks_up_names(
    attempt: str, stopped: str, runner: Runner, make_code: MakeCode, active: frozenset[str]
) -> None:
    needs(active, "network of other runs")
    assert await tried(runner, make_code, attempt, 0) == {"stopped": stopped}


async def test_each_run_has_its_own_network_when_both_kinds_come_by_turns(
    runner: Runner, make_code: MakeCode, active: frozenset[str], other: int
) -> None:
    needs(active, "network of verification runs with models", "network of other runs")
    gateway = await runner._gateway._started()
    reached: JsonObject = {"escaped": str(gateway.port)}
    proxied = "return os.environ['HTTP_PROXY'].rpartition(':')[2]"
    for _ in range(2):
        proxy = (await tried(runner, make_code, proxied, other))["escaped"]
        assert isinstance(proxy, str)
        assert await tried(runner, make_code, CONNECT, int(proxy)) == {"escaped": proxy}
        assert await tried(runner, make_code, CONNECT, other) == REFUSED
        assert await tried(runner, make_code, CONNECT, other, "gateway-only") == REFUSED
        assert await tried(runner, make_code, CONNECT, int(proxy), "gateway-only", gateway.url) == REFUSED
        assert await tried(runner, make_code, "return socket.socket()", other, "gateway-only") == REFUSED
        assert await tried(runner, make_code, proxied, other, "gateway-only") == {"stopped": "KeyError"}
        for network in ("gateway-only", "open"):
            assert await tried(runner, make_code, CONNECT, gateway.port, network, gateway.url) == reached
            assert await tried(runner, make_code, CONNECT, other, network, gateway.url) == REFUSED


CLIENTS = {
    "httpx": "import httpx\nreturn httpx.post('{url}', content=b'sent ', timeout=9).text",
    "httpx later": (
        "import asyncio, httpx\nasync def ask():\n    async with httpx.AsyncClient() as client:\n"
        "        return (await client.post('{url}', content=b'sent ', timeout=9)).text\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor() as pool:\n    return pool.submit(lambda: asyncio.run(ask())).result()"
    ),
    "requests": "import requests\nreturn requests.post('{url}', data=b'sent ', timeout=9).text",
    "urllib": "import urllib.request\nreturn urllib.request.urlopen('{url}', b'sent ', 9).read().decode()",
    "aiohttp": (
        "import asyncio, aiohttp\nasync def ask():\n    async with aiohttp.ClientSession() as session:\n"
        "        async with session.post('{url}', data=b'sent ') as answer:\n            return await answer.text()\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor() as pool:\n    return pool.submit(lambda: asyncio.run(ask())).result()"
    ),
    "lfx's pinned client": (
        "from lfx.utils.ssrf_transport import create_ssrf_protected_sync_client as create\n"
        "with create('127.0.0.1', ['127.0.0.1'], timeout=9) as client:\n"
        "    return client.post('{url}', content=b'sent ').text"
    ),
}


@pytest.mark.parametrize("client", CLIENTS)
async def test_every_http_client_goes_through_the_proxy(
    client: str, named: Runner, make_code: MakeCode, service: int
) -> None:
    attempt = CLIENTS[client].replace("{url}", f"http://127.0.0.1:{service}/")
    assert await outcome(named, make_code, attempt, "open") == {"escaped": "sent from the service"}


async def test_the_result_has_every_host_with_bytes_both_ways(named: Runner, make_code: MakeCode, service: int) -> None:
    body = f"""import httpx
httpx.post("http://127.0.0.1:{service}/", content=b"x" * 1000)
httpx.post("http://127.0.0.1:{service}/", content=b"x" * 1000)
try:
    httpx.get("http://10.0.0.5/", timeout=9)
except ValueError as refused:
    return Data(data={{"refused": str(refused)}})"""
    result = await run_unguarded(named, make_code(body), timeout=30)
    assert result.error is None, result.error
    [value] = result.outputs.values()
    assert value == {"refused": REFUSAL}
    first, second = result.hosts
    assert (first.host, first.port, first.refused) == ("127.0.0.1", service, False)
    assert first.sent > 2000
    assert first.received > 2032
    assert (second.host, second.port, second.refused, second.received) == ("10.0.0.5", 80, True, 0)


REFUSAL = "The run may not reach 10.0.0.5:80: its address is one of this machine or of a private network."


@pytest.mark.parametrize(
    "ask",
    [
        "import httpx\nhttpx.get('http://10.0.0.5/')",
        "import httpx\nhttpx.get('https://10.0.0.5:80/')",
        "import requests\nrequests.get('http://10.0.0.5/')",
        "import requests\nrequests.get('https://10.0.0.5:80/')",
        "import urllib.request\nurllib.request.urlopen('http://10.0.0.5/')",
    ],
)
async def test_a_refused_host_is_why_a_run_failed_with_the_remedy(
    ask: str, runner: Runner, make_code: MakeCode
) -> None:
    result = await run_unguarded(runner, make_code(f"{ask}\nreturn Data(data={{}})"), timeout=30)
    assert result.error is not None
    assert (result.error.code, result.error.message) == ("refused", REFUSAL)
    assert "WIREWRIGHT_RUN_HOSTS=10.0.0.5" in result.error.fix
    assert [(host.host, host.refused) for host in result.hosts] == [("10.0.0.5", True)]


@pytest.mark.parametrize(
    "driver",
    [
        "socket.create_connection(('db.example.com', 5432), 3)",
        "socket.create_connection(('10.0.0.5', 5432), 3)",
        "asyncio.run(asyncio.open_connection('10.0.0.5', 5432))",
    ],
)
async def test_what_cannot_use_the_proxy_fails_with_that_reason(
    driver: str, runner: Runner, make_code: MakeCode, active: frozenset[str]
) -> None:
    needs(active, "network of other runs")
    body = (
        "import asyncio, socket\nfrom concurrent.futures import ThreadPoolExecutor\n"
        f"with ThreadPoolExecutor() as pool:\n    pool.submit(lambda: {driver}).result()\nreturn Data(data={{}})"
    )
    result = await run_unguarded(runner, make_code(body), timeout=30)
    assert result.error is not None
    assert result.error.code == "refused"
    assert "proxy" in result.error.fix
    assert "WIREWRIGHT_RUN_HOSTS" in result.error.fix


async def test_a_database_is_reached_when_the_operator_names_host_and_port(
    named: Runner, make_code: MakeCode, database: int, other: int
) -> None:
    attempt = "return socket.create_connection(('localhost', {port}), 3).recv(100).decode().strip()"
    assert await tried(named, make_code, attempt, database) == {"escaped": "ready"}
    assert await tried(named, make_code, attempt, database, "gateway-only") == REFUSED


async def test_a_verification_run_reaches_an_approved_host_and_no_other(
    runner: Runner, make_code: MakeCode, active: frozenset[str], other: int
) -> None:
    body = """import httpx
found = {}
for url in ("http://nowhere.invalid/", "http://elsewhere.invalid/"):
    try:
        httpx.get(url, timeout=9)
    except ValueError as stopped:
        found[url] = str(stopped)
return Data(data=found)"""
    result = await run_unguarded(
        runner, make_code(body), timeout=30, network="gateway-only", hosts=("nowhere.invalid",)
    )
    assert result.error is None, result.error
    assert [(host.host, host.refused) for host in result.hosts] == [
        ("nowhere.invalid", False),
        ("elsewhere.invalid", True),
    ]
    [value] = result.outputs.values()
    assert isinstance(value, dict)
    assert "cannot be found" in str(value["http://nowhere.invalid/"])
    assert "it has not been approved" in str(value["http://elsewhere.invalid/"])


async def test_the_catalogues_own_component_reaches_a_service_through_the_proxy(
    named: Runner, installed_catalogue: Catalogue, service: int
) -> None:
    flow = _asking(installed_catalogue, f"http://127.0.0.1:{service}/x")
    result = await named.run(flow, timeout=60)
    assert result.ok, result.error
    assert "from the service" in str(result.outputs)
    [host] = result.hosts
    assert (host.host, host.port, host.refused) == ("127.0.0.1", service, False)
    assert host.received > 0


def _asking(catalogue: Catalogue, url: str) -> Flow:
    text = (
        "name: Ask\nnodes:\n  api: APIRequest\n  out: ChatOutput\nedges:\n  api.data -> out.input_value\n"
        f"config:\n  api.url_input: {url}\n"
    )
    built = build(text, catalogue)
    assert built.flow is not None, built.faults
    return built.flow
