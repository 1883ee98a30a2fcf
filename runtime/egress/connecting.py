"""Resolves a host once, checks what it is resolved to, and connects to just that."""

from __future__ import annotations

import asyncio
import functools
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from runtime.egress.addresses import Address, read_address
from runtime.egress.policy import EgressPolicy, HostRefused, place
from runtime.results import RunError

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Resolve: TypeAlias = Callable[[str], Awaitable[Sequence[Address]]]
"""From a host name to its addresses; raises OSError if it has none."""
Connect: TypeAlias = Callable[[Address, int], Awaitable[Streams]]
"""Connects to an address and port; raises OSError if it cannot."""

LOOK_UP_SECONDS = 10.0
CONNECT_SECONDS = 10.0
MAX_TRIED = 4
"""How many addresses of a host are tried."""

_LOOK_UPS = ThreadPoolExecutor(4, "look-up")
"""Looks up names, which may take long, apart from the threads that the rest of the program shares."""
_HOST = re.compile(r"[A-Za-z0-9_.:-]{1,253}")


async def look_up(host: str) -> Sequence[Address]:
    """The addresses of a host, by this machine's own name service."""
    ask = functools.partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(_LOOK_UPS, ask)
    addresses = (read_address(str(each[4][0])) for each in found)
    return list(dict.fromkeys(address for address in addresses if address is not None))


async def connect(address: Address, port: int) -> Streams:
    """A connection to an address; nothing is looked up."""
    return await asyncio.open_connection(str(address), port)


def checked_target(host: str, port: int | None) -> tuple[str, int]:
    """A host in the form in which policies name it, and its port.

    Raises:
        HostRefused: it cannot be one.
    """
    host = host.strip("[]").lower().rstrip(".")
    if port is None or not 0 < port < 65536 or _HOST.fullmatch(host) is None:
        raise HostRefused(RunError(code="external", message="The address of a request has no valid host."), 400)
    return host, port


async def open_connection(
    policy: EgressPolicy, host: str, port: int, *, resolve: Resolve = look_up, connect: Connect = connect
) -> Streams:
    """Connect to a host that the policy allows.

    Raises:
        HostRefused: it does not, or the host cannot be found or does not answer.
    """
    policy.check_name(host, port)
    literal = read_address(host)
    addresses: Sequence[Address] = [literal] if literal is not None else await _resolved(resolve, host, port)
    for address in policy.allowed_addresses(host, port, addresses)[:MAX_TRIED]:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await connect(address, port)
        except (OSError, TimeoutError):
            continue
    message = f"The host {place(host, port)} cannot be reached: no connection was accepted."
    raise HostRefused(RunError(code="external", message=message, fix=_FIX), 504)


_FIX = "Check the address, or try again."


async def _resolved(resolve: Resolve, host: str, port: int) -> Sequence[Address]:
    try:
        async with asyncio.timeout(LOOK_UP_SECONDS):
            addresses = await resolve(host)
    except (OSError, TimeoutError, UnicodeError):
        addresses = ()
    if not addresses:
        message = f"The host {place(host, port)} cannot be found: no address is known by this name."
        raise HostRefused(RunError(code="external", message=message, fix=_FIX), 502)
    return addresses
