"""The runner's egress: the proxy, started for the first run that may reach anything, and attached to each such run."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from flows.document import JsonObject
from runtime.egress.account import EgressAccount
from runtime.egress.hosts import NamedHost, UnreadableHost, among, direct_names, direct_ports, read_hosts
from runtime.egress.policy import EgressPolicy, HostRule
from runtime.egress.proxy import EgressProxy
from runtime.options import RunOptions
from runtime.results import ENGINE_CLOSED, RunFailed, RunResult

LOOK_UP_SECONDS = 5.0


@dataclass(frozen=True)
class AttachedEgress:
    """A run with what it reaches the outside by.

    Attributes:
        url: the proxy's address with the run's credentials; None for a run that may reach nothing.
        ports: the ports that the operator names, which the run may connect to without the proxy.
        addresses: addresses of the hosts that are named with a port, since runs cannot look up names.
        account: the run's account at the proxy.
    """

    url: str | None = None
    ports: tuple[int, ...] = ()
    addresses: tuple[tuple[str, str], ...] = ()
    account: EgressAccount | None = None

    def to_json(self) -> JsonObject | None:
        """What the process of the run is told; None if it may reach nothing."""
        if self.url is None:
            return None
        return {
            "url": self.url,
            "port": urlsplit(self.url).port,
            "ports": [*self.ports],
            "addresses": dict(self.addresses),
        }

    def account_for(self, result: RunResult) -> RunResult:
        """The result with the hosts that the run reached, and with a refused one as the cause of its error."""
        return result if self.account is None else self.account.account_for(result)


class Egress:
    """What the runs of one runner may reach."""

    def __init__(self, hosts: Collection[str] = (), rule: HostRule = "allow", proxy: EgressProxy | None = None) -> None:
        """Start nothing yet.

        Args:
            hosts: what the operator names, as `read_hosts` reads it.
            rule: whether users' runs may reach public hosts.
            proxy: the proxy (default: one of its own).

        Raises:
            UnreadableHost: an entry of `hosts` is neither a host nor an address.
        """
        self.rule: HostRule = rule
        self._named = read_hosts(hosts)
        self._proxy = proxy or EgressProxy()
        self._closed = False

    @asynccontextmanager
    async def attach(self, options: RunOptions) -> AsyncGenerator[AttachedEgress]:
        """Let a run reach what its options allow, for as long as this lasts.

        Raises:
            RunFailed: this is closed.
            OSError: the proxy cannot listen.
        """
        approved = tuple(_readable(options.hosts))
        if options.verification and not approved:
            yield AttachedEgress()
            return
        if self._closed:
            raise RunFailed(ENGINE_CLOSED)
        await self._proxy.start()
        only = None if options.only_hosts is None else tuple(_readable(options.only_hosts))
        policy = EgressPolicy(
            rule=self.rule, named=self._named, approved=approved, only=only, verification=options.verification
        )
        direct = () if options.verification else self._named if only is None else among(self._named, only)
        account = self._proxy.open(policy)
        try:
            yield AttachedEgress(
                self._proxy.url(account), tuple(sorted(direct_ports(direct))), await _addresses(direct), account
            )
        finally:
            self._proxy.close(account)

    async def aclose(self) -> None:
        """Stop serving for good; connections end."""
        self._closed = True
        await self._proxy.aclose()


def _readable(hosts: Collection[str]) -> Iterator[NamedHost]:
    """The hosts that a user approved; what a flow has in the place of one approves nothing."""
    for host in hosts:
        with contextlib.suppress(UnreadableHost):
            yield from read_hosts([host])


async def _addresses(named: Collection[NamedHost]) -> tuple[tuple[str, str], ...]:
    """An IPv4 address of each host that is named with a port; those without one are left out."""
    loop = asyncio.get_running_loop()
    found: list[tuple[str, str]] = []
    for each in direct_names(named):
        try:
            async with asyncio.timeout(LOOK_UP_SECONDS):
                answers = await loop.getaddrinfo(each.name, each.port, family=socket.AF_INET, type=socket.SOCK_STREAM)
        except (OSError, TimeoutError, UnicodeError):
            continue
        found.append((each.name, str(answers[0][4][0])))
    return tuple(found)
