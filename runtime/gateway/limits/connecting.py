"""How long it may take to connect with a provider: in time that this process had, not in time that it was busy.

A server in which two hundred turns begin at once may need seconds for one round of its event loop, and a connection
takes several rounds. A clock alone would then say that a provider does not answer which has long answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from runtime.egress.outgoing import package_of

T = TypeVar("T")

ROUNDS: Final = 25
"""How many times the loop comes to look whether there is a connection, before it takes too long."""


def connect_patiently(client: Any) -> Any:
    """Return an HTTP client (of httpx or httpx2) whose time limit for connecting does not count what the loop was busy.

    Args:
        client: the client, which its maker lets change. Its proxies, if it has any, are kept.
    """
    transports = [client._transport, *client._mounts.values()]
    for pool in [transport._pool for transport in transports if hasattr(transport, "_pool")]:
        pool._network_backend = _Patient(pool._network_backend)
    return client


class _Patient:
    """A network backend, or a connection of one, that makes connections within a number of rounds as well."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def connect_tcp(self, *address: Any, timeout: float | None = None, **options: Any) -> _Patient:
        """Connect by TCP."""
        return _Patient(await self._within(timeout, self._inner.connect_tcp(*address, timeout=None, **options)))

    async def start_tls(self, *given: Any, timeout: float | None = None, **options: Any) -> _Patient:
        """Agree upon encryption."""
        return _Patient(await self._within(timeout, self._inner.start_tls(*given, timeout=None, **options)))

    async def _within(self, seconds: float | None, work: Coroutine[Any, Any, T]) -> T:
        """The result of some work.

        Raises:
            ConnectTimeout: that of the backend's package; it took too long.
        """
        if seconds is None:
            return await work
        working = asyncio.ensure_future(work)
        try:
            for _ in range(ROUNDS):
                await asyncio.wait((working,), timeout=seconds / ROUNDS)
                if working.done():
                    return working.result()
        finally:
            if not working.done():
                working.cancel()
                await asyncio.wait((working,))
        raise package_of(self._inner).ConnectTimeout
