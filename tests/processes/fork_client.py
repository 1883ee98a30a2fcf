"""Asks `fork_server.py` for a fork, which takes the streams of this process.

For programs that start often: it imports nothing that takes longer than they run.
"""

import _socket
import os
import sys
from _json import encode_basestring_ascii  # `json` would import `re`

STREAMS = b"".join(stream.to_bytes(4, sys.byteorder) for stream in range(3))
Value = str | int | list[str] | list[int] | dict[str, str] | None
"""What a part of a request is."""


def encoded(value: Value) -> str:
    """A value as JSON."""
    if isinstance(value, dict):
        parts = [f"{encode_basestring_ascii(key)}:{encode_basestring_ascii(item)}" for key, item in value.items()]
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(encoded, value)) + "]"
    return "null" if value is None else encode_basestring_ascii(value) if isinstance(value, str) else str(value)


def connected(address: str) -> "_socket.socket":
    """A connection to the server.

    Raises:
        OSError: nobody listens there any more.
    """
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(address)
    return server


def ask(server: "_socket.socket", given: "dict[str, Value]") -> None:
    """Ask for a fork."""
    request = ("{" + ",".join(f"{encoded(name)}:{encoded(value)}" for name, value in given.items()) + "}").encode()
    server.sendmsg([b"%8d" % len(request)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, STREAMS)])
    server.sendall(request)


def leave_streams() -> None:
    """Open nothing in place of the streams, so that what the fork closes is closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)


def answer(server: "_socket.socket") -> "int | None":
    """The next line of the server, a number; None when it has ended."""
    line = b""
    while not line.endswith(b"\n"):
        part = server.recv(1)
        if not part:
            return None
        line += part
    return int(line)
