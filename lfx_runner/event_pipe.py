"""The runner's end of a run's event pipe: it accepts well-formed events only, and not without limit."""

import contextlib
import os

from lfx_runner.protocol import MAX_EVENT, MAX_EVENTS, MAX_EVENTS_SIZE, LineBuffer, Message, event_of

CHUNK = 1 << 16


class EventPipe:
    """Reads the events of one run. Whatever the run writes can only become an event of that run."""

    def __init__(self, descriptor: int) -> None:
        """Read from a non-blocking descriptor, which `close` closes."""
        self.descriptor = descriptor
        self._lines = LineBuffer(MAX_EVENT)
        self._events_left = MAX_EVENTS
        self._bytes_left = MAX_EVENTS_SIZE
        self.open = True

    def read(self) -> list[Message]:
        """The events of one read. Afterwards `open` is false if there will be no more."""
        try:
            data = os.read(self.descriptor, CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.open = False
            return []
        self._bytes_left -= len(data)
        found: list[Message] = []
        for line in self._lines.feed(data):
            event = None if line is None else event_of(line)
            if event is not None and self._events_left:
                self._events_left -= 1
                found.append(event)
        if self._bytes_left < 0 or not self._events_left:
            self.open = False
            found.append({"kind": "cut"})
        return found

    def rest(self) -> list[Message]:
        """The events that are still in the pipe of a run that has ended."""
        found: list[Message] = []
        before = None
        while self.open and before != self._bytes_left:
            before = self._bytes_left
            found += self.read()
        return found

    def close(self) -> None:
        """Close the descriptor, so that further writes fail."""
        if self.descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self.descriptor)
        self.descriptor, self.open = -1, False
