"""The hosts of a run in words."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.egress.account import OTHERS
from runtime.egress.policy import place
from runtime.results import RunHost

LISTED = 10
"""How many hosts are listed."""


def hosts_in_words(hosts: Sequence[RunHost]) -> str:
    """The hosts that a run reached and was refused, with bytes both ways; an empty text for none."""
    listed = [_in_words(host) for host in hosts[:LISTED]]
    if len(hosts) > LISTED:
        listed.append(f"{len(hosts) - LISTED} more")
    return ", ".join(listed)


def _in_words(host: RunHost) -> str:
    where = "other hosts" if host.host == OTHERS else place(host.host, host.port)
    if host.refused and not host.sent and not host.received:
        return f"{where} (refused)"
    return f"{where} ({host.sent:,} bytes sent, {host.received:,} received{', then refused' if host.refused else ''})"
