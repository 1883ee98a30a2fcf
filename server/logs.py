"""Logs on standard output: one JSON object a line for machines that collect them, plain lines on a terminal."""

import json
import logging
import sys
from datetime import UTC, datetime


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON: time, level, logger, message, and the traceback of a failure."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def configure_logs() -> None:
    """Send what the server has to say to standard output: failures of any library, news of our own."""
    output = logging.StreamHandler(sys.stdout)
    output.setFormatter(logging.Formatter("%(message)s") if sys.stdout.isatty() else JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[output], force=True)
    for own in ("server", "agent", "tools", "runtime"):
        logging.getLogger(own).setLevel(logging.INFO)
