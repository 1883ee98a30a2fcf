"""The proxy, over real sockets: what it carries, what it refuses, and what it records."""

import asyncio
import base64
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import httpx
import pytest

from runtime.egress.account import AT_ONCE, MAX_HOSTS, OTHERS, EgressAccount
from runtime.egress.addresses import Address
from runtime.egress.connecting import Streams
from runtime.egress.hosts import read_hosts
from runtime.egress.policy import EgressPolicy
from runtime.egress.proxy import EgressProxy

pytestmark = pytest.mark.anyio

PUBLIC = ipaddress.ip_address("93.184.215.14")


@dataclass
class Internet:
    """Names with their addresses, and what stands at public ones: a server of this test."""

    port: int = 0
    names: dict[str, list[Address]] = field(default_factory=lambda: {"api.example.com": [PUBLIC]})
    looked_up: list[str] = field(default_factory=list[str])
    connected: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    seen: list[bytes] = field(default_factory=list[bytes])
    """The requests that the server got, as bytes."""
    answer: bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"

    async def resolve(self, host: str) -> Sequence[Address]:
        self.looked_up.append(host)
        if host not in self.names:
            raise OSError("unknown")
        return self.names[host]

    async def connect(self, address: Address, port: int) -> Streams:
        self.connected.append((str(address), port))
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            head = await reader.readuntil(b"\r\n\r\n")
            if b"content-length: 4" in head.lower():
                head += await reader.readexactly(4)
            self.seen.append(head)
            writer.write(self.answer)
            await writer.drain()
            writer.close()


@pytest.fixture
async def internet() -> AsyncIterator[Internet]:
    made = Internet()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()


@pytest.fixture
async def proxy(internet: Internet) -> AsyncIterator[EgressProxy]:
    made = EgressProxy(resolve=internet.resolve, connect=internet.connect)
    await made.start()
    yield made
    await made.aclose()


@pytest.fixture
def account(proxy: EgressProxy) -> EgressAccount:
    return proxy.open(EgressPolicy())


async def got(proxy: EgressProxy, account: EgressAccount, url: str, **options: object) -> httpx.Response:
    async with httpx.AsyncClient(proxy=proxy.url(account), timeout=5) as client:
        return await client.request(**{"method": "GET", "url": url, **options})  # pyright: ignore[reportArgumentType]


async def said(proxy: EgressProxy, text: bytes) -> bytes:
    """What the proxy answers to bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(text)
    writer.write_eof()
    async with asyncio.timeout(5):
        answer = await reader.read()
    writer.close()
    return answer


def credentials(account: EgressAccount) -> bytes:
    return b"Proxy-Authorization: Basic " + base64.b64encode(f"run:{account.token}".encode()) + b"\r\n"


def totals(account: EgressAccount) -> list[tuple[str, int, bool]]:
    return [(each.host, each.port, each.refused) for each in account.hosts()]


async def test_a_request_to_a_public_host_is_answered_and_its_bytes_are_counted(
    proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    answer = await got(proxy, account, "http://api.example.com/a/b?c=d", method="POST", content=b"body")
    assert (answer.status_code, answer.text) == (200, "hello")
    assert internet.connected == [("93.184.215.14", 80)]
    [seen] = internet.seen
    assert seen.startswith(b"POST /a/b?c=d HTTP/1.1\r\n")
    assert seen.endswith(b"body")
    [host] = account.hosts()
    assert (host.host, host.port, host.refused) == ("api.example.com", 80, False)
    assert (host.sent, host.received) == (len(seen), len(internet.answer))


async def test_the_runs_token_never_leaves_the_proxy(
    proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    await got(proxy, account, "http://api.example.com/")
    assert b"proxy" not in internet.seen[0].lower()
    assert account.token.encode() not in internet.seen[0]


async def test_a_tunnel_carries_bytes_both_ways_and_counts_them(
    proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    request = b"GET / HTTP/1.1\r\nhost: api.example.com\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(b"CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n" + credentials(account) + b"\r\n")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    writer.write(request)
    assert await reader.read() == internet.answer
    writer.close()
    [host] = account.hosts()
    assert (host.host, host.port) == ("api.example.com", 443)
    assert (host.sent, host.received) == (len(request), len(internet.answer))


async def test_a_host_is_looked_up_once_and_connected_to_by_the_address_that_was_checked(
    proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    addresses = [PUBLIC]
    internet.names["rebinding.example.com"] = addresses
    found = internet.resolve

    async def rebind(host: str) -> Sequence[Address]:
        answer = list(await found(host))
        addresses[:] = [ipaddress.ip_address("127.0.0.1")]
        return answer

    proxy._resolve = rebind
    assert (await got(proxy, account, "http://rebinding.example.com/")).status_code == 200
    assert internet.looked_up == ["rebinding.example.com"]
    assert internet.connected == [("93.184.215.14", 80)]
    assert (await got(proxy, account, "http://rebinding.example.com/")).status_code == 403
    assert len(internet.connected) == 1


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "169.254.169.254", "10.0.0.5", "0.0.0.0", "private.example.com"],  # noqa: S104
)
async def test_a_private_host_is_refused_with_its_reason_and_recorded(
    host: str, proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    internet.names["private.example.com"] = [ipaddress.ip_address("192.168.1.1")]
    answer = await got(proxy, account, f"http://{host}:8080/")
    assert answer.status_code == 403
    assert "of this machine or of a private network" in answer.text
    assert "WIREWRIGHT_RUN_HOSTS" in answer.text
    assert answer.headers["proxy-status"].startswith("wirewright; error=destination_ip_prohibited")
    with pytest.raises(httpx.ProxyError, match="private network"):
        await got(proxy, account, f"https://{host}:8080/")
    assert totals(account) == [(host.strip("[]"), 8080, True)]
    assert internet.connected == []


async def test_a_host_is_refused_by_what_it_leads_to_however_it_is_written() -> None:
    real = EgressProxy()
    await real.start()
    account = real.open(EgressPolicy())
    for host in ("2130706433", "0x7f000001", "127.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[fd00:ec2::254]"):
        head = f"GET http://{host}:9/ HTTP/1.1\r\nHost: x\r\n".encode() + credentials(account) + b"\r\n"
        assert (await said(real, head)).startswith(b"HTTP/1.1 403 ")
    await real.aclose()


async def test_nothing_is_looked_up_for_a_run_that_may_not_reach_the_host(
    proxy: EgressProxy, internet: Internet
) -> None:
    for policy in (EgressPolicy(rule="deny"), EgressPolicy(rule="ask"), EgressPolicy(verification=True)):
        account = proxy.open(policy)
        assert (await got(proxy, account, "http://secret-data.example.com/")).status_code == 403
        assert totals(account) == [("secret-data.example.com", 80, True)]
    assert internet.looked_up == []


async def test_a_named_host_is_reached_wherever_it_is(proxy: EgressProxy, internet: Internet) -> None:
    account = proxy.open(EgressPolicy(named=read_hosts([f"127.0.0.1:{internet.port}"])))
    assert (await got(proxy, account, f"http://127.0.0.1:{internet.port}/")).text == "hello"
    assert (await got(proxy, account, "http://127.0.0.1:1/")).status_code == 403


async def test_each_account_has_its_own_policy_and_record(proxy: EgressProxy, internet: Internet) -> None:
    free, closed = proxy.open(EgressPolicy()), proxy.open(EgressPolicy(rule="deny"))
    first, second = await asyncio.gather(
        got(proxy, free, "http://api.example.com/"), got(proxy, closed, "http://api.example.com/")
    )
    assert (first.status_code, second.status_code) == (200, 403)
    assert totals(free) == [("api.example.com", 80, False)]
    assert totals(closed) == [("api.example.com", 80, True)]


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"Proxy-Authorization: Basic cnVuOnJ1bg==\r\n",
        b"Proxy-Authorization: Basic !!!\r\n",
        b"Proxy-Authorization: Bearer x\r\n",
    ],
)
@pytest.mark.parametrize("line", [b"GET http://api.example.com/ HTTP/1.1", b"CONNECT api.example.com:443 HTTP/1.1"])
async def test_nobody_is_served_without_the_token_of_a_run(
    line: bytes, header: bytes, proxy: EgressProxy, internet: Internet
) -> None:
    answer = await said(proxy, line + b"\r\nHost: x\r\n" + header + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 407 ")
    assert internet.looked_up == []


async def test_the_token_ends_with_the_run_and_so_do_its_connections(
    proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(b"CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n" + credentials(account) + b"\r\n")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    proxy.close(account)
    async with asyncio.timeout(5):
        assert await reader.read() == b""
    writer.close()
    assert (await got(proxy, account, "http://api.example.com/")).status_code == 407


async def test_a_run_has_so_many_connections_at_once_and_a_further_one_waits(
    proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    ask = b"CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n" + credentials(account) + b"\r\n"
    opened: list[Streams] = []
    for _ in range(AT_ONCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        opened.append((reader, writer))
        writer.write(ask)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    waiting = asyncio.create_task(got(proxy, account, "http://api.example.com/"))
    other = proxy.open(EgressPolicy())
    assert (await got(proxy, other, "http://api.example.com/")).status_code == 200
    assert not waiting.done()
    opened[0][1].write(b"GET / HTTP/1.1\r\n\r\n")  # the host answers and closes
    assert (await waiting).status_code == 200
    for _, writer in opened:
        writer.close()


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n{token}\r\n", b"400"),
        (b"GET https://api.example.com/ HTTP/1.1\r\nHost: x\r\n{token}\r\n", b"400"),
        (b"GET ftp://api.example.com/ HTTP/1.1\r\nHost: x\r\n{token}\r\n", b"400"),
        (b"GET http://api.example.com:99999/ HTTP/1.1\r\nHost: x\r\n{token}\r\n", b"400"),
        (b"GET http://exa$mple.com/ HTTP/1.1\r\nHost: x\r\n{token}\r\n", b"400"),
        (b"CONNECT api.example.com HTTP/1.1\r\nHost: x\r\n{token}\r\n", b"400"),
        (b"CONNECT :443 HTTP/1.1\r\nHost: x\r\n{token}\r\n", b"400"),
        (b"CONNECT api.example.com:443@evil:1 HTTP/1.1\r\nHost: x\r\n{token}\r\n", b"403"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET http://api.example.com/ HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n", b"431"),
        (b"GET http://gone.example.com/ HTTP/1.1\r\nHost: x\r\n{token}\r\n", b"502"),
    ],
)
async def test_a_request_that_is_malformed_or_leads_nowhere_is_refused(
    text: bytes, status: bytes, proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    internet.names["evil"] = [ipaddress.ip_address("10.0.0.5")]
    answer = await said(proxy, text.replace(b"{token}", credentials(account)))
    assert answer.split()[1] == status
    assert internet.connected == []


async def test_a_second_request_on_a_connection_reaches_nobody(
    proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    internet.names["other.example.com"] = [PUBLIC]
    head = b"GET http://%s.example.com/ HTTP/1.1\r\nHost: x\r\n" + credentials(account) + b"\r\n"
    answer = await said(proxy, head % b"api" + head % b"other")
    assert answer.count(b"HTTP/1.1 200") == 1
    assert len(internet.seen) == 1
    assert internet.looked_up == ["api.example.com"]


async def test_a_host_that_speaks_no_http_is_an_error_of_its_own(
    proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    internet.answer = b"220 mail.example.com ESMTP\r\n"
    answer = await got(proxy, account, "http://api.example.com/")
    assert answer.status_code == 504
    assert "gave no answer in HTTP" in answer.text
    assert totals(account) == [("api.example.com", 80, False)]


async def test_a_host_that_accepts_no_connection_is_an_error_of_its_own(
    proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    with socket.socket() as taken:  # bound and not listening: nobody else answers on this port
        taken.bind(("127.0.0.1", 0))
        internet.port = taken.getsockname()[1]
        answer = await got(proxy, account, "http://api.example.com/")
    assert answer.status_code == 504
    assert "The host api.example.com:80 cannot be reached" in answer.text
    assert totals(account) == [("api.example.com", 80, False)]


async def test_a_long_answer_without_a_length_arrives_whole(
    proxy: EgressProxy, account: EgressAccount, internet: Internet
) -> None:
    internet.answer = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 3_000_000
    answer = await got(proxy, account, "http://api.example.com/")
    assert len(answer.content) == 3_000_000
    assert account.hosts()[0].received == len(internet.answer)


async def test_the_record_is_bounded_when_a_run_tries_many_hosts(proxy: EgressProxy, internet: Internet) -> None:
    account = proxy.open(EgressPolicy(rule="deny"))
    for number in range(MAX_HOSTS + 5):
        head = f"GET http://h{number}.example.com/ HTTP/1.1\r\nHost: x\r\n".encode() + credentials(account) + b"\r\n"
        await said(proxy, head)
    hosts = account.hosts()
    assert len(hosts) == MAX_HOSTS + 1
    assert (hosts[-1].host, hosts[-1].refused) == (OTHERS, True)


async def test_the_proxy_does_not_connect_to_itself(proxy: EgressProxy) -> None:
    account = proxy.open(EgressPolicy(named=read_hosts(["127.0.0.1"])))
    assert (await got(proxy, account, f"http://127.0.0.1:{proxy.port}/")).status_code == 403
