"""The progress of the engine's installation in the log: a bar in the last line of a terminal, a few lines elsewhere."""

import logging
import os
import shutil
from typing import TextIO

from runtime.install.progress import ProgressMessage

log = logging.getLogger(__name__)
STEP = 0.25
"""How much more must be done for another line in a log whose lines cannot be replaced."""
BAR = 24
"""The width of the bar in characters."""
_SHARE, _UNDER_WAY = "progress_share", "progress_under_way"
"""Attributes of a log record."""
_CLEAR = "\r\x1b[K"


def log_progress(message: str, *, under_way: bool, level: int = logging.INFO) -> None:
    """Log one message about installing and starting the engine.

    Args:
        message: what is done, with its share if that is known.
        under_way: whether another message follows.
        level: of the record.
    """
    share = message.share if isinstance(message, ProgressMessage) else None
    log.log(level, message, extra={_SHARE: share, _UNDER_WAY: under_way})


def can_redraw(stream: TextIO) -> bool:
    """Whether a line can be replaced there: on a terminal that is not a dumb one."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class SparseProgress(logging.Filter):
    """Passes only those messages with a share by which much more is done than by the last, and all others."""

    def __init__(self) -> None:
        super().__init__()
        self._last: float | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written."""
        share: float | None = getattr(record, _SHARE, None)
        if share is None:
            return True
        if self._last is not None and share < self._last + STEP and not share >= 1 > self._last:
            return False
        self._last = share
        return True


class TerminalHandler(logging.StreamHandler[TextIO]):
    """Writes log lines on a terminal, above a last line with the progress, which the next one replaces."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._status = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Draw progress as the last line; write anything else above it."""
        under_way: bool | None = getattr(record, _UNDER_WAY, None)
        if under_way:
            self._status = status_line(record.getMessage(), getattr(record, _SHARE, None))
            self._draw(_CLEAR + self._status)
            return
        if self._status:
            self._draw(_CLEAR)
        if under_way is False:
            self._status = ""
        super().emit(record)
        self._draw(self._status)

    def close(self) -> None:
        """Remove the last line."""
        if self._status:
            self._status = ""
            self._draw(_CLEAR)
        super().close()

    def _draw(self, text: str) -> None:
        if text and not self.stream.closed:
            self.stream.write(text)
            self.flush()


def status_line(message: str, share: float | None) -> str:
    """A message, with a bar if its share is known, in one line of the terminal."""
    done = None if share is None else round(share * BAR)
    text = message if done is None else f"[{'#' * done}{'-' * (BAR - done)}] {message}"
    return text[: max(10, shutil.get_terminal_size().columns - 1)]
