"""Limits what is read of a provider's response, so that no answer can fill the memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

LIMIT = 32 * 1024 * 1024
"""Bytes of the largest response."""


class BodyTooLarge(Exception):
    """A response has more bytes than are read."""


def limit_bodies(client: Any, limit: int = LIMIT) -> Any:
    """Return an HTTP client (of httpx or httpx2) that reads no response beyond a limit.

    Args:
        client: the client, which is changed.
        limit: bytes, as they are sent.
    """

    async def bound(response: Any) -> None:
        base = next((one for one in type(response.stream).__mro__ if one.__name__ == "AsyncByteStream"), object)
        response.stream = _bounded(base)(response.stream, limit)

    hooks = client.event_hooks
    client.event_hooks = {**hooks, "response": [*hooks.get("response", ()), bound]}
    return client


def limit_provider(provider: Any) -> None:
    """Limit the responses that a provider's own HTTP client reads, and those of the clients that replace it.

    Args:
        provider: one of PydanticAI's; without an HTTP client of its own, nothing is changed.
    """
    own, make = getattr(provider, "_own_http_client", None), getattr(provider, "_http_client_factory", None)
    if own is not None:
        limit_bodies(own)
    if make is not None:
        provider._http_client_factory = _limited(make)


def _limited(make: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: limit_bodies(make())


def _bounded(base: type[Any]) -> type[Any]:
    """A stream of the same kind as the client's own, which checks that of its responses."""

    class Bounded(base):
        def __init__(self, inner: Any, limit: int) -> None:
            self._inner, self._limit = inner, limit

        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for piece in self._inner:
                read += len(piece)
                if read > self._limit:
                    raise BodyTooLarge
                yield piece

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Bounded
