"""The runner's end of the pipe that a run tells its events through: only events, in order, and never without end."""

import contextlib
import os

from lfx_runner.protocol import MAX_EVENT, MAX_EVENTS, MAX_EVENTS_SIZE, LineBuffer, Message, event_of

CHUNK = 1 << 16


class EventPipe:
    """Reads what one run tells. Whatever is written there can become an event of that run, and nothing else."""

    def __init__(self, descriptor: int) -> None:
        """Read from a descriptor that does not block, and that is closed by `close`."""
        self.descriptor = descriptor
        self._lines = LineBuffer(MAX_EVENT)
        self._left = MAX_EVENTS
        self._size = MAX_EVENTS_SIZE
        self.open = True

    def read(self) -> list[Message]:
        """The events that one read gives. `open` is false afterwards when there will be no more."""
        try:
            data = os.read(self.descriptor, CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.open = False
            return []
        self._size -= len(data)
        found: list[Message] = []
        for line in self._lines.feed(data):
            event = None if line is None else event_of(line)
            if event is not None and self._left:
                self._left -= 1
                found.append(event)
        if self._size < 0 or not self._left:
            self.open = False
            found.append({"kind": "cut"})
        return found

    def rest(self) -> list[Message]:
        """The events that are still in the pipe of a run that has ended."""
        found: list[Message] = []
        while self.open and (some := self._more()) is not None:
            found += some
        return found

    def close(self) -> None:
        """Close the descriptor, so that whoever still writes is told that nobody reads."""
        if self.descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self.descriptor)
        self.descriptor, self.open = -1, False

    def _more(self) -> list[Message] | None:
        size = self._size
        found = self.read()
        return found if found or self._size != size else None
