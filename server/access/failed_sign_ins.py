"""Wrong tokens, counted by the address that they come from; of IPv6, by the network that one customer is given."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from typing import Final

ALLOWED: Final = 20
"""Wrong tokens of one address in `WINDOW_SECONDS` that are each told so."""

WINDOW_SECONDS: Final = 60.0

ADDRESSES: Final = 10_000
"""Addresses that are counted; the one that failed least recently is forgotten."""


class FailedSignIns:
    """Limits how often an address may guess: beyond `ALLOWED` wrong tokens within a window it is told to wait.

    Guessing a token is hopeless anyway, since it has 256 random bits; the limit makes a client with an old token stop.
    Right tokens are answered all the same, so that nobody is locked out by a neighbour.

    Args:
        clock: a clock that never goes back, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._windows: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def count(self, address: str) -> int:
        """Count a wrong token of an address.

        Returns:
            The whole seconds that the address has to wait, or 0 when it has not failed too often.
        """
        now, address = self.clock(), _network(address)
        began, failures = self._windows.pop(address, (now, 0))
        if now - began >= WINDOW_SECONDS:
            began, failures = now, 0
        self._windows[address] = (began, failures + 1)
        if len(self._windows) > ADDRESSES:
            self._windows.popitem(last=False)
        return 0 if failures < ALLOWED else max(1, math.ceil(began + WINDOW_SECONDS - now))


def _network(address: str) -> str:
    """What an address is counted as: itself, or the /64 of an IPv6 address, in which a client may take any other."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:  # such as of a socket that has none
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> 64 << 64))
