"""Reading a request's body piece by piece: bounded in size and in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from starlette.requests import Request

READ_SECONDS = 30.0
"""How long a client may take to send its body."""


class BodyRefused(Exception):
    """A body that is not read to its end.

    Attributes:
        status: the HTTP status: 408 too slow, 413 too large.
        code: a stable name of the reason.
        message: what is wrong.
        fix: what to do about it.
        closes: whether the connection has to be closed, because the client may not send the rest.
    """

    def __init__(self, status: int, code: str, message: str, fix: str, *, closes: bool) -> None:
        """Note the reason."""
        self.status, self.code, self.message, self.fix, self.closes = status, code, message, fix, closes
        super().__init__(f"{message} {fix}")


async def pieces(request: Request, limit: int, seconds: float) -> AsyncGenerator[bytes]:
    """The body piece by piece, read no further than the limit; `runtime.web.connections` discards the rest.

    Args:
        request: the request; its body has not been read yet.
        limit: the most bytes that it may have.
        seconds: how long a client may take to send it.

    Raises:
        BodyRefused: it is too slow or too large.
    """
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdecimal() and int(declared[:19]) > limit:
        raise _too_large(request, limit)
    deadline, received = asyncio.get_running_loop().time() + seconds, 0
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                piece = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            message = "The body did not arrive in time."
            raise BodyRefused(408, "too_slow", message, "Send it again.", closes=True) from None
        received += len(piece)
        if received > limit:
            raise _too_large(request, limit)
        yield piece


def _too_large(request: Request, limit: int) -> BodyRefused:
    # A client that expects `100 Continue` may omit its body, and then its next request would be read as that body.
    expects_continue = request.headers.get("expect", "").lower() == "100-continue"
    message = f"The body has more than {limit:,} bytes."
    return BodyRefused(413, "too_large", message, "Send a smaller one.", closes=expects_continue)
