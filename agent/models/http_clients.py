"""The HTTP clients that providers get from us: bounded in what they read, and closed by whoever made them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

from runtime.egress.outgoing import checks_addresses
from runtime.gateway.limits.connecting import connect_patiently
from runtime.gateway.limits.responses import limit_bodies

GOOGLE_SECONDS = 20 * 60.0
"""The timeout of Google's models, which is PydanticAI's for them."""
CONNECT_SECONDS = 5.0


def http_client_for(provider: str) -> Any:
    """An HTTP client for one provider, or None for one whose SDK has none (Bedrock).

    Connections are opened when they are needed. Closing the client closes them; it can be used again afterwards, and on
    another event loop once that of its connections has ended.

    Args:
        provider: a name of `PROVIDERS`.
    """
    if provider == "bedrock":
        return None
    if provider == "groq":  # its SDK uses httpx, and the others httpx2
        from pydantic_ai.models import create_async_http_client

        return _of(create_async_http_client)
    import httpx2
    from pydantic_ai.models import create_async_httpx2_client

    if provider == "google":
        timeout = httpx2.Timeout(GOOGLE_SECONDS, connect=CONNECT_SECONDS)
        return _of(lambda: create_async_httpx2_client(timeout=timeout))
    return _of(create_async_httpx2_client)


def _of(make: Callable[[], Any]) -> Any:
    def limited() -> Any:
        return connect_patiently(checks_addresses(limit_bodies(make())))

    kind: Any = make().__class__
    return _reopening(kind)(limited)


@cache
def _reopening(base: Any) -> Any:
    """A client of the same kind as `base`, which sends by one that it opens when there is none."""

    class Reopening(base):
        def __init__(self, make: Callable[[], Any]) -> None:
            self._make_client = make
            self._opened: Any = make()
            self._used_on: asyncio.AbstractEventLoop | None = None
            base.__init__(self, timeout=self._opened.timeout, headers=self._opened.headers)

        async def send(self, request: Any, **options: Any) -> Any:
            before, self._used_on = self._used_on, asyncio.get_running_loop()
            moved = before is not None and before is not self._used_on and not before.is_running()
            if self._opened is None or moved:  # connections belong to the event loop that opened them
                self._opened = self._make_client()
            return await self._opened.send(request, **options)

        @property
        def is_closed(self) -> bool:
            return self._opened is None

        async def aclose(self) -> None:
            opened, self._opened = self._opened, None
            if opened is not None and self._used_on in (None, asyncio.get_running_loop()):
                await opened.aclose()

    return Reopening
