"""Log lines written by a thread of their own: who reads them slowly, or not at all, holds up nobody."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from contextlib import suppress
from typing import Final, TextIO

LINES: Final = 10_000
"""How many lines wait at most; later ones are lost, and a line says how many."""

FLUSH_SECONDS: Final = 2.0
"""How long the end of the program waits for lines that nobody has read yet."""

GATHER_SECONDS: Final = 0.01
"""How long a line waits for others to be written with it: a turn has nine, and each would wake the thread."""


class QueuedOutput(logging.Handler):
    """Writes records as lines, in a thread that the first one starts.

    Args:
        stream: where lines go; written by this handler alone.
        lines: how many wait at most.
    """

    def __init__(self, stream: TextIO, lines: int = LINES) -> None:
        super().__init__()
        self._stream = stream
        self._most = lines
        self._waiting: deque[str] = deque()
        self._lost = 0
        self._changed = threading.Condition()
        self._is_idle = True
        self._thread: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record's line, which is made here: its context is that of the caller."""
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001  (as handlers of the library do: what cannot be formatted ends nothing)
            self.handleError(record)
            return
        with self._changed:
            if len(self._waiting) >= self._most:
                self._lost += 1
                return
            self._waiting.append(line)
            self._is_idle = False
            if self._thread is None:
                self._thread = threading.Thread(target=self._write, name="log", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until everything is written, within limits."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_idle, FLUSH_SECONDS)

    def _put(self, text: str) -> None:
        """Write text past the stream's own buffer: a thread that waits in it would stop the end of the program."""
        try:
            file = self._stream.fileno()
        except OSError:
            self._stream.write(text)
            self._stream.flush()
            return
        rest = memoryview(text.encode(self._stream.encoding or "utf-8", "backslashreplace"))
        while rest:
            rest = rest[os.write(file, rest) :]

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting))
            time.sleep(GATHER_SECONDS)
            with self._changed:
                lines, lost = list(self._waiting), self._lost
                self._waiting.clear()
                self._lost = 0
            if lost:
                text = "%d lines of the log are lost: nobody read them."
                record = logging.LogRecord(__name__, logging.WARNING, __file__, 0, text, (lost,), None)
                lines.append(self.format(record))
            with suppress(OSError, ValueError):  # the reader is gone, and with it who could be told
                self._put("".join(f"{line}\n" for line in lines))
            with self._changed:
                self._is_idle = not self._waiting
                self._changed.notify_all()
