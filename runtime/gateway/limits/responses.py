"""Limits what is read of a provider's response, so that no answer can fill the memory."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from typing import Any

LIMIT = 32 * 1024 * 1024
"""Bytes of the largest response."""


_CHUNK = 1 << 16
"""Bytes that are unpacked at once."""

_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""What zlib is told of an encoding; the last finds out by itself whether there is a header."""


class BodyTooLarge(Exception):
    """A response has more bytes than are read."""


class BodyUnreadable(Exception):
    """A response cannot be unpacked."""


def limit_bodies(client: Any, limit: int = LIMIT) -> Any:
    """Return an HTTP client (of httpx or httpx2) that reads no response beyond a limit.

    Args:
        client: the client, which its maker lets change.
        limit: bytes, as they are sent and when they are unpacked.
    """

    async def bound(response: Any) -> None:
        base = next((one for one in type(response.stream).__mro__ if one.__name__ == "AsyncByteStream"), object)
        encoding = response.headers.pop("content-encoding", "").strip().lower()  # it is unpacked here, within the limit
        response.stream = _bounded(base)(response.stream, limit, encoding)

    client.headers["accept-encoding"] = "gzip, deflate"
    hooks = client.event_hooks
    client.event_hooks = {**hooks, "response": [*hooks.get("response", ()), bound]}
    return client


def _unpacking(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    """A function that unpacks the pieces of a body in parts of bounded size; unknown encodings stay as they are."""
    window = _WINDOWS.get(encoding)
    if window is None:
        return lambda piece: iter((piece,))
    inflate = zlib.decompressobj(window)

    def unpack(piece: bytes) -> Iterator[bytes]:
        part = b""
        while piece or len(part) == _CHUNK:  # a full part may not be all that the piece gives
            try:
                part = inflate.decompress(piece, _CHUNK)
            except zlib.error as error:
                raise BodyUnreadable from error
            yield part
            piece = inflate.unconsumed_tail

    return unpack


@cache
def _bounded(base: type[Any]) -> Any:
    """The class of a stream of the same kind as the client's own, which checks that of its responses; made once."""

    class Bounded(base):
        def __init__(self, inner: Any, limit: int, encoding: str) -> None:
            self._inner, self._limit, self._encoding = inner, limit, encoding

        async def __aiter__(self) -> AsyncIterator[bytes]:
            packed = unpacked = 0
            unpack = _unpacking(self._encoding)
            async for piece in self._inner:
                packed += len(piece)
                for part in unpack(piece):
                    unpacked += len(part)
                    if max(packed, unpacked) > self._limit:
                        raise BodyTooLarge
                    yield part
                if packed > self._limit:
                    raise BodyTooLarge

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Bounded
