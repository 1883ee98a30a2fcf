"""Logs on standard output: one JSON object a line for machines that collect them, plain lines on a terminal.

Lines of a request and of a turn have its id, whichever library writes them: formatters read it from the context.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

from runtime.telemetry import context_fields, event_fields
from server.telemetry.progress import SparseProgress, TerminalHandler, can_redraw
from server.telemetry.queued_output import QueuedOutput


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON: time, level, logger, message, its fields, and the traceback of a failure."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **context_fields(),
            **{f"{name}_" if name in _OWN else name: value for name, value in event_fields(record).items()},
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _ENCODER.encode(line)


_ENCODER = json.JSONEncoder(default=str)
_OWN = frozenset({"time", "level", "logger", "message", "exception"})


class PlainFormatter(logging.Formatter):
    """Writes a record for a person: the message, and its fields as `name=value`."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's line, or lines when something failed."""
        named = {**event_fields(record), **context_fields()}
        fields = [f"{name}={_on_one_line(value)}" for name, value in named.items() if value is not None]
        return " ".join([super().format(record), *fields])


def _on_one_line(value: object) -> str:
    """A value as text that neither ends the line nor commands the terminal."""
    text = str(value)
    return text if text.isprintable() else json.dumps(text)


def configure_logs(form: Literal["auto", "text", "json"] = "auto") -> None:
    """Log to standard output: warnings of any library, and information of Wirewright's loggers.

    Args:
        form: lines for people, lines of JSON, or by whether standard output is a terminal.
    """
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False  # no line has them, and each asks
    plain = sys.stdout.isatty() if form == "auto" else form == "text"
    redraws = plain and can_redraw(sys.stdout)
    output = TerminalHandler(sys.stdout) if redraws else QueuedOutput(sys.stdout)
    if not redraws:
        output.addFilter(SparseProgress())
    output.setFormatter(PlainFormatter("%(message)s") if plain else JsonFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[output], force=True)
    ours = __name__.removesuffix("server.telemetry.logs")  # empty, or `wirewright.` when installed from a wheel
    for package in ("server", "agent", "tools", "runtime"):
        logging.getLogger(f"{ours}{package}").setLevel(logging.INFO)
