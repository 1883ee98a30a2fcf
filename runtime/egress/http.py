"""HTTP as the proxy speaks it: reads requests and answers from streams, and writes its own answers."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import TypeAlias
from urllib.parse import urlsplit

import h11

from runtime.egress.policy import HostRefused
from runtime.results import RunError

CHUNK = 1 << 16
MAX_HEAD = 32 * 1024
"""Bytes of the longest head of a request or an answer."""
LINGER_SECONDS = 1.0
LINGER_SIZE = 1 << 20
"""How long, and for how many bytes, a refused request is read on, so that its client reads the answer first."""

Headers: TypeAlias = list[tuple[bytes, bytes]]
Event: TypeAlias = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]

_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer upgrade expect".split()
)


async def events(
    connection: h11.Connection, reader: asyncio.StreamReader, count: Callable[[int], None] | None = None
) -> AsyncGenerator[h11.Event]:
    """What the other end sends, up to the end of its message.

    Args:
        connection: the state of the connection.
        reader: its stream.
        count: called with the size of each block that is read.

    Raises:
        h11.RemoteProtocolError: it is not HTTP, ends too early, or has a head that is too long.
    """
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            data = await reader.read(CHUNK)
            if count is not None:
                count(len(data))
            connection.receive_data(data)
            continue
        if not isinstance(event, h11.Event) or isinstance(event, h11.ConnectionClosed):
            return
        yield event
        if isinstance(event, h11.EndOfMessage):
            return


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers that a proxy passes on; each connection states anew how it ends."""
    headers = [(name.lower(), value) for name, value in headers]
    named = {part.strip().lower() for name, value in headers if name == b"connection" for part in value.split(b",")} - {
        b"content-length",
        b"transfer-encoding",
        b"host",
    }
    dropped = _HOP_BY_HOP | named
    return [*((name, value) for name, value in headers if name not in dropped), (b"connection", b"close")]


def token_of(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The password of the proxy's credentials; empty without valid ones."""
    for name, value in headers:
        if name.lower() == b"proxy-authorization":
            scheme, _, encoded = value.partition(b" ")
            if scheme.lower() != b"basic":
                return ""
            try:
                decoded = base64.b64decode(encoded.strip(), validate=True).decode("ascii")
            except (binascii.Error, ValueError):
                return ""
            return decoded.partition(":")[2]
    return ""


def target_of(request: h11.Request) -> tuple[str, int | None, bytes]:
    """The host, the port and the path that a request is for.

    Raises:
        HostRefused: it does not name them in the form in which proxies are asked.
    """
    text = request.target.decode("ascii")
    try:
        if request.method == b"CONNECT":
            parts = urlsplit(f"//{text}")
            return parts.hostname or "", parts.port, b""
        parts = urlsplit(text)
        if parts.scheme == "http" and parts.hostname:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            return parts.hostname, 80 if parts.port is None else parts.port, path.encode("ascii")
    except ValueError:
        pass
    message = "The run's proxy takes CONNECT, and requests for addresses that begin with http://."
    raise HostRefused(RunError(code="external", message=message), 400)


async def refuse(
    connection: h11.Connection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    refusal: HostRefused,
    *,
    headers: Headers | None = None,
) -> None:
    """Answer with a refusal: its message stands in the reason, in `Proxy-Status` (RFC 9209) and in the body."""
    error = refusal.error
    message = error.message.encode("ascii", errors="replace")
    body = f"{error.message} {error.fix}".strip().encode() + b"\n"
    kind = b"destination_ip_prohibited" if error.code == "refused" else b"destination_unavailable"
    quoted = message.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    head = h11.Response(
        status_code=refusal.status,
        reason=message,
        headers=[
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"proxy-status", b'wirewright; error=%s; details="%s"' % (kind, quoted)),
            (b"connection", b"close"),
            *(headers or ()),
        ],
    )
    for event in (head, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")
    await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    left = LINGER_SIZE
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while left > 0 and (data := await reader.read(CHUNK)):
                left -= len(data)
    except TimeoutError:
        return
