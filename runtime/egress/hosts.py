"""Hosts that somebody names: the operator in `WIREWRIGHT_RUN_HOSTS`, or a user who approves them for a run."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from runtime.egress.addresses import Address, read_address

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_NAME = re.compile(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?\.?")
_WITH_PORT = re.compile(r"(?P<host>\[[^\]]+\]|[^:\s]+):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True)
class NamedHost:
    """One entry.

    Attributes:
        name: a host name in lower case, `*.domain` for all below a domain; empty for addresses.
        network: the addresses, if it names any.
        port: the port; None for every port.
    """

    name: str
    network: Network | None = None
    port: int | None = None

    def has_name(self, host: str, port: int) -> bool:
        """Whether it names this host, written so, on this port."""
        if self.port not in (None, port) or not self.name:
            return False
        if self.name.startswith("*."):
            return host.endswith(self.name[1:])
        return host == self.name

    def has_address(self, address: Address, port: int) -> bool:
        """Whether it names this address on this port."""
        return self.port in (None, port) and self.network is not None and address in self.network

    def __str__(self) -> str:
        """The entry as it may be written."""
        host = self.name or str(self.network).removesuffix("/32").removesuffix("/128")
        if self.port is None:
            return host
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


class UnreadableHost(ValueError):
    """An entry is neither a host name nor an address."""


def read_hosts(entries: Iterable[str]) -> tuple[NamedHost, ...]:
    """Read entries: `host`, `host:port`, `*.domain`, an address or a network such as `10.0.0.0/8`; IPv6 in brackets
    if a port follows.

    Raises:
        UnreadableHost: one is something else; it says which.
    """
    return tuple(_read(entry.strip().lower()) for entry in entries if entry.strip())


def _read(entry: str) -> NamedHost:
    host, port = entry, None
    if (found := _WITH_PORT.fullmatch(entry)) is not None:
        host, port = found["host"], int(found["port"])
    elif entry.startswith("[") and entry.endswith("]"):
        host = entry[1:-1]
    if port is not None and not 0 < port < 65536:
        raise UnreadableHost(f"{entry!r} has no valid port.")
    host = host.strip("[]")
    try:
        return NamedHost("", ipaddress.ip_network(host, strict=False), port)
    except ValueError:
        if _NAME.fullmatch(host) is None:
            raise UnreadableHost(f"{entry!r} is neither a host name nor an address.") from None
    return NamedHost(host.rstrip("."), None, port)


def names(named: Collection[NamedHost], host: str, port: int) -> bool:
    """Whether any entry names a host on a port, as it is written: by its name, or by its address."""
    address = read_address(host)
    return any(each.has_name(host, port) or (address and each.has_address(address, port)) for each in named)


def among(named: Collection[NamedHost], only: Collection[NamedHost]) -> tuple[NamedHost, ...]:
    """Those of some entries that name a host which others name, too: what a run that is limited to these may use."""
    return tuple(each for each in named if any(_meet(each, one) for one in only))


def _meet(one: NamedHost, other: NamedHost) -> bool:
    port = one.port or other.port or 0
    if other.port not in (None, port):
        return False
    if one.network is not None and other.network is not None:
        return one.has_address(other.network[0], port)
    return one.has_name(other.name, port) or other.has_name(one.name, port)


def direct_ports(named: Collection[NamedHost]) -> frozenset[int]:
    """The ports that entries name: runs may connect to them without the proxy."""
    return frozenset(each.port for each in named if each.port is not None)


def direct_names(named: Collection[NamedHost]) -> Iterator[NamedHost]:
    """The entries with a port and a name that can be looked up for a run, which cannot look up any itself."""
    return (each for each in named if each.port is not None and each.name and not each.name.startswith("*."))
