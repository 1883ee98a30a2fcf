"""The account of a run at the proxy: its token, its policy, its connections, and what went over them."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, replace

from runtime.egress.policy import EgressPolicy, HostRefused
from runtime.results import RunError, RunHost, RunResult

AT_ONCE = 32
"""Connections of one run at the same time; a further one waits."""
MAX_HOSTS = 100
"""Hosts that a result names; the bytes of further ones are counted under `OTHERS`."""
OTHERS = "(others)"

_CAUSED_BY_REFUSAL = frozenset({"code", "external", "missing_input"})
"""Codes of run errors that a refused host may have caused, if they name it in words of the component's own."""


@dataclass
class Traffic:
    """What went to and from one host and port."""

    host: str
    port: int
    sent: int = 0
    received: int = 0
    refused: bool = False
    unapproved: bool = False


class EgressAccount:
    """The account of one run. All methods belong to one event loop."""

    def __init__(self, policy: EgressPolicy) -> None:
        """Open an account without traffic."""
        self.policy = policy
        self.token = secrets.token_urlsafe(24)
        self.slots = asyncio.Semaphore(AT_ONCE)
        self.closed = False
        self.failures: list[tuple[str, RunError]] = []
        """The hosts that were refused or could not be reached, and why, oldest first."""
        self._traffic: dict[tuple[str, int], Traffic] = {}
        self._connections: set[asyncio.Task[None]] = set()

    def traffic(self, host: str, port: int) -> Traffic:
        """Where the bytes to and from a host are counted."""
        found = self._traffic.get((host, port))
        if found is None:
            if len(self._traffic) >= MAX_HOSTS:
                host, port = OTHERS, 0
            found = self._traffic.setdefault((host, port), Traffic(host, port))
        return found

    def fail(self, host: str, port: int, refusal: HostRefused) -> None:
        """Record a host that was refused or could not be reached."""
        traffic = self.traffic(host, port)
        traffic.refused = traffic.refused or refusal.error.code == "refused"
        traffic.unapproved = traffic.unapproved or refusal.unapproved
        if len(self.failures) < MAX_HOSTS:
            self.failures.append((host, refusal.error))

    def enter(self, connection: asyncio.Task[None]) -> None:
        """Take in a connection, which ends with the account."""
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)
        if self.closed:
            connection.cancel()

    def close(self) -> None:
        """Revoke the token and end every connection."""
        self.closed = True
        for connection in list(self._connections):
            connection.cancel()

    def hosts(self) -> tuple[RunHost, ...]:
        """What the run reached and was refused, in the order in which it first tried."""
        return tuple(
            RunHost(
                host=each.host,
                port=each.port,
                sent=each.sent,
                received=each.received,
                refused=each.refused,
                unapproved=each.unapproved,
            )
            for each in self._traffic.values()
        )

    def account_for(self, result: RunResult) -> RunResult:
        """The result with the hosts, and with a refused host as the cause of its error."""
        return replace(result, hosts=self.hosts(), error=self._cause(result.error))

    def _cause(self, error: RunError | None) -> RunError | None:
        if error is None or not self.failures:
            return error
        for host, failure in reversed(self.failures):
            reworded = failure.code == "refused" and error.code in _CAUSED_BY_REFUSAL and host in error.message
            if reworded or failure.message in error.message:
                return replace(failure, node=error.node)
        return error
