"""The server itself connects to no service of the cloud that it may run in, however the address is written or named."""

import asyncio
import ipaddress
from collections.abc import Sequence
from typing import Any

import httpx
import httpx2
import pytest

from runtime.egress.addresses import Address
from runtime.egress.outgoing import AddressRefused, checks_addresses, is_of_cloud
from runtime.gateway.limits.connecting import connect_patiently

pytestmark = pytest.mark.anyio
METADATA = ipaddress.ip_address("169.254.169.254")
LOOPBACK = ipaddress.ip_address("127.0.0.1")
KINDS = pytest.mark.parametrize("package", [httpx, httpx2])


def resolving(*found: Address) -> Any:
    """Looks every host up as these addresses."""

    async def resolve(host: str) -> Sequence[Address]:
        del host
        return found

    return resolve


def client(package: Any, *found: Address) -> Any:
    made = package.AsyncClient(trust_env=False, timeout=5)
    return connect_patiently(checks_addresses(made, resolving(*found)) if found else checks_addresses(made))


@pytest.mark.parametrize(
    "text",
    [
        *("169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fe80::1"),
        *("fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "fd20:ce::254"),
    ],
)
def test_where_clouds_have_services_of_their_own_is_known_however_it_is_written(text: str) -> None:
    assert is_of_cloud(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["127.0.0.1", "10.0.0.7", "192.168.1.1", "::1", "fd00::7", "93.184.215.14"])
def test_a_private_address_may_be_a_users_own_server(text: str) -> None:
    assert not is_of_cloud(ipaddress.ip_address(text))


@KINDS
async def test_a_name_that_leads_to_the_metadata_is_not_connected_to(package: Any) -> None:
    async with client(package, METADATA) as made:
        with pytest.raises(package.ConnectError) as refused:
            await made.get("http://metadata.example.com/latest")
    cause: BaseException | None = refused.value
    while cause is not None and not isinstance(cause, AddressRefused):
        cause = cause.__cause__ or cause.__context__
    assert isinstance(cause, AddressRefused)


@KINDS
@pytest.mark.parametrize("host", ["[::ffff:169.254.169.254]", "2852039166", "0xA9FEA9FE", "0251.0376.0251.0376"])
async def test_no_spelling_of_the_metadata_address_is_connected_to(package: Any, host: str) -> None:
    async with client(package) as made:
        with pytest.raises((package.ConnectError, package.InvalidURL)):
            await made.get(f"http://{host}/latest")


@KINDS
async def test_the_address_that_was_looked_at_is_the_one_connected_to(package: Any) -> None:
    heads: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, client(package, METADATA, LOOPBACK) as made:
        found = await made.get(f"http://models.example.com:{port}/v1")
    assert found.status_code == 204
    assert f"host: models.example.com:{port}" in heads[0]


@KINDS
async def test_a_host_that_is_not_known_is_an_error_of_connecting(package: Any) -> None:
    async def resolve(host: str) -> Sequence[Address]:
        raise OSError(host)

    async with checks_addresses(package.AsyncClient(trust_env=False), resolve) as made:
        with pytest.raises(package.ConnectError):
            await made.get("http://nowhere.example.com/")
