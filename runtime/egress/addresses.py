"""Which addresses are on the public internet, looked at as what they lead to and not as they are written."""

from __future__ import annotations

import ipaddress
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = (
    ipaddress.ip_network("168.63.129.16/32"),  # the host that serves virtual machines on Azure
    ipaddress.ip_network("192.0.0.0/24"),  # of the protocols themselves; a cloud's metadata service, too
    ipaddress.ip_network("64:ff9b:1::/48"),  # NAT64 of a local network
    ipaddress.ip_network("2001::/32"),  # Teredo, a tunnel through others' servers
    ipaddress.ip_network("fec0::/10"),  # site-local, before unique local addresses
)
"""What the standard library holds to be global and leads into a private network or to a cloud's own services."""


def is_public(address: Address) -> bool:
    """Whether an address is on the public internet.

    Loopback, link-local (metadata services, too), private, shared, reserved, multicast and unspecified addresses are
    not; an IPv6 address that stands for an IPv4 address is what that one is.
    """
    inner = carried(address)
    if inner is not None:
        return is_public(inner)
    if any(address in network for network in _NOT_PUBLIC if network.version == address.version):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def carried(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to: mapped, 6to4, NAT64 or compatible."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64 or (int(address) >> 32 == 0 and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def read_address(text: str) -> Address | None:
    """The address that a text is, without a zone; None if it is something else."""
    try:
        return ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None
