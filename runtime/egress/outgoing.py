"""Where the server itself connects to for a user: to no service of the cloud that it may run in, however it is named.

A user names the addresses of model providers and of Langflow servers, which may well be private. At link-local
addresses and a few others a cloud answers whoever asks from its machines, with credentials of the machine. A host is
looked up once, and what is connected to is an address that was looked at.
"""

from __future__ import annotations

import asyncio
import ipaddress
import sys
from typing import Any, Final

from runtime.egress.addresses import Address, carried, read_address
from runtime.egress.connecting import LOOK_UP_SECONDS, MAX_TRIED, Resolve, look_up

NEXT_SECONDS: Final = 2.0
"""After how long the next address of a host is tried."""

_OF_CLOUDS: Final = tuple(
    ipaddress.ip_network(text)
    for text in ("168.63.129.16/32", "192.0.0.192/32", "100.100.100.200/32", "fd00:ec2::/32", "fd20:ce::254/128")
)
"""Services of clouds' own at addresses that are not link-local."""


class AddressRefused(Exception):
    """A host leads to a service of the cloud that this machine may run in."""

    def __init__(self, host: str) -> None:
        super().__init__(f"{host[:200]} leads to a link-local address or to a service of a cloud's own.")


def is_of_cloud(address: Address) -> bool:
    """Whether an address is where clouds have services of their own; an IPv6 address is what the IPv4 one in it is."""
    inner = carried(address) or address
    return inner.is_link_local or any(inner in each for each in _OF_CLOUDS if each.version == inner.version)


def checks_addresses(client: Any, resolve: Resolve = look_up) -> Any:
    """Return an HTTP client (of httpx or httpx2) that connects to no service of a cloud's own.

    Args:
        client: the client, which its maker lets change. Its proxies, if it has any, are kept.
        resolve: looks a host up.
    """
    transports = [client._transport, *client._mounts.values()]
    for pool in [transport._pool for transport in transports if hasattr(transport, "_pool")]:
        pool._network_backend = _Checked(pool._network_backend, resolve)
    return client


def package_of(backend: Any) -> Any:
    """The package of a network backend, which has its errors, whatever is around the backend."""
    innermost: Any = backend
    while "_inner" in innermost.__dict__:
        innermost = innermost.__dict__["_inner"]
    kind: type[object] = innermost.__class__
    return sys.modules[kind.__module__.partition(".")[0]]


class _Checked:
    """A network backend that connects to addresses which were looked at."""

    def __init__(self, inner: Any, resolve: Resolve) -> None:
        self._inner = inner
        self._resolve = resolve

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Any:
        """Connect by TCP.

        Raises:
            ConnectError: that of the backend's package; no address of the host may be connected to, or answers.
        """
        *first, last = (await self._allowed(host))[:MAX_TRIED]
        for address in first:
            seconds = NEXT_SECONDS if timeout is None else min(timeout, NEXT_SECONDS)
            try:
                return await self._inner.connect_tcp(str(address), port, timeout=seconds, **options)
            except (self._error("ConnectError"), self._error("ConnectTimeout")):
                continue
        return await self._inner.connect_tcp(str(last), port, timeout=timeout, **options)

    async def _allowed(self, host: str) -> list[Address]:
        literal = read_address(host)
        try:
            async with asyncio.timeout(LOOK_UP_SECONDS):
                found = [literal] if literal is not None else await self._resolve(host)
            allowed = [address for address in found if not is_of_cloud(address)]
            if found and not allowed:
                raise AddressRefused(host)
        except AddressRefused as refused:
            raise self._error("ConnectError")(str(refused)) from refused
        except (OSError, TimeoutError, UnicodeError) as failure:
            raise self._error("ConnectError")(f"{host[:200]} cannot be found.") from failure
        if not allowed:
            raise self._error("ConnectError")(f"{host[:200]} has no address.")
        return allowed

    def _error(self, name: str) -> type[Exception]:
        return getattr(package_of(self._inner), name)
