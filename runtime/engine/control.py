"""The client's end of the socket to the engine's template process: JSON documents, one a line, and passed sockets."""

from __future__ import annotations

import asyncio
import json
import socket
from collections import deque
from collections.abc import AsyncGenerator

from flows.document import Json, JsonObject
from flows.json_values import as_object

CHUNK = 1 << 16
MAX_LINE = 1 << 20
"""Bytes of the longest message that is accepted."""


class ProtocolBroken(Exception):
    """The other end wrote something that is not part of the protocol."""


class Control:
    """Sends commands without waiting, each perhaps with a socket, and reads messages."""

    def __init__(self, connection: socket.socket) -> None:
        """Take over a connected socket."""
        connection.settimeout(0)
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._unsent: deque[tuple[bytes, socket.socket | None]] = deque()

    def send(self, command: JsonObject, passed: socket.socket | None = None) -> None:
        """Send a command; `passed` is closed here when it has been sent.

        Raises:
            OSError: the other end is closed.
        """
        self._unsent.append((json.dumps(command, separators=(",", ":")).encode() + b"\n", passed))
        if len(self._unsent) == 1:
            self._flush()

    def _flush(self) -> None:
        """Send what the socket takes; the rest follows when it takes more."""
        while self._unsent:
            line, passed = self._unsent[0]
            try:
                sent = socket.send_fds(self._connection, [line], [] if passed is None else [passed.fileno()])
            except BlockingIOError:
                self._loop.add_writer(self._connection, self._flush_later)
                return
            if passed is not None:
                passed.close()
            if sent < len(line):
                self._unsent[0] = line[sent:], None
            else:
                self._unsent.popleft()

    def _flush_later(self) -> None:
        self._loop.remove_writer(self._connection)
        try:
            self._flush()
        except OSError:
            self._drop()  # `messages` ends as well

    async def messages(self) -> AsyncGenerator[JsonObject]:
        """Each message, until the other end is closed.

        Raises:
            ProtocolBroken: it writes something else.
        """
        held = b""
        while chunk := await self._received():
            *lines, held = (held + chunk).split(b"\n")
            for line in lines:
                try:
                    parsed: Json = json.loads(line)
                except (ValueError, RecursionError):
                    raise ProtocolBroken from None
                yield as_object(parsed)
            if len(held) > MAX_LINE:
                raise ProtocolBroken

    async def _received(self) -> bytes:
        try:
            return await self._loop.sock_recv(self._connection, CHUNK)
        except OSError:
            return b""

    def close(self) -> None:
        """Close the socket; nothing may wait for its messages any more."""
        if self._connection.fileno() >= 0:
            self._loop.remove_writer(self._connection)
        self._drop()
        self._connection.close()

    def _drop(self) -> None:
        for _, passed in self._unsent:
            if passed is not None:
                passed.close()
        self._unsent.clear()
