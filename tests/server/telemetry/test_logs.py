"""Logs are one line of JSON each, whatever they say."""

import json
import logging
import sys

from server.telemetry.logs import JsonFormatter


def test_a_record_is_one_line_of_json() -> None:
    record = logging.LogRecord("server.x", logging.WARNING, __file__, 1, "two\nlines: %s", ("é",), None)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    written = json.loads(line)
    assert (written["level"], written["logger"], written["message"]) == ("warning", "server.x", "two\nlines: é")
    assert written["time"].endswith("+00:00")


def test_a_failure_is_logged_with_its_traceback_on_the_same_line() -> None:
    try:
        raise ValueError("why")
    except ValueError:
        record = logging.LogRecord("server", logging.ERROR, __file__, 1, "failed", None, sys.exc_info())
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert "ValueError: why" in json.loads(line)["exception"]
