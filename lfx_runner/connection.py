"""A run's end of its socket to the client: reads the policy, files and request, and writes events and the result."""

import os
import select
import socket
import threading
from collections.abc import Iterator

from lfx_runner.confine import landlock
from lfx_runner.protocol import MAX_EVENT, MAX_EVENTS, MAX_EVENTS_SIZE, Message, encode, write_all

CHUNK = 1 << 18


class Incoming:
    """Reads lines and blocks of bytes, one after the other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._held = b""

    def wait(self, seconds: float) -> bool:
        """Whether something arrives, or the other end is closed, within so many seconds."""
        return bool(select.select([self._descriptor], [], [], seconds)[0])

    def line(self) -> bytes:
        """The next line; empty at the end."""
        while b"\n" not in self._held:
            if not (data := os.read(self._descriptor, CHUNK)):
                return b""
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        return line

    def blocks(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes, as they arrive.

        Raises:
            EOFError: they end before.
        """
        while size:
            data = self._held[:size] or os.read(self._descriptor, min(size, CHUNK))
            self._held = self._held[len(data) :]
            if not data:
                raise EOFError("the client closed the connection")
            size -= len(data)
            yield data


class Outgoing:
    """Writes events, as long as they are few enough, and one result. May be called from any thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._events_left = MAX_EVENTS
        self._bytes_left = MAX_EVENTS_SIZE

    def event(self, event: Message) -> None:
        """Write one event; one that is too long is dropped, and so is everything after too many."""
        with self._lock:
            if self._events_left <= 0 or self._bytes_left <= 0:
                return
            line = encode(event)
            if len(line) > MAX_EVENT:
                return
            self._events_left -= 1
            self._bytes_left -= len(line)
            if self._events_left <= 0 or self._bytes_left <= 0:
                line = encode({"kind": "cut"})
            self._write(line)

    def result(self, line: bytes, files: list[bytes]) -> None:
        """Write the result, then the content of the files that it names; no event follows."""
        with self._lock:
            self._events_left = 0
            for data in (line, *files):
                self._write(data)

    def confined(self, held: list[str], listeners: list[int]) -> None:
        """Say which parts of the confinement hold; passes on, and closes, where the kernel asks about unknown calls."""
        line = encode({"type": "confined", "held": held, "landlock": landlock.abi()})
        with socket.socket(fileno=os.dup(self._descriptor)) as connection:
            socket.send_fds(connection, [line], listeners)
        for listener in listeners:
            os.close(listener)

    def _write(self, data: bytes) -> None:
        write_all(self._descriptor, data)
