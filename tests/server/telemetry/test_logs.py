"""Logs are one line of JSON each, whatever they say."""

import json
import logging
import sys
from typing import Literal

import pytest

from runtime.telemetry import log_event
from server.settings import ServerSettings
from server.telemetry.logs import JsonFormatter, PlainFormatter, configure_logs


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


def test_a_field_neither_ends_the_line_nor_commands_the_terminal(caplog: pytest.LogCaptureFixture) -> None:
    log_event("assistant.request.started", session_id="a\nassistant.request.failed\x1b[2J")
    line = PlainFormatter("%(message)s").format(caplog.records[-1])
    assert line.isprintable()
    assert line.startswith("assistant.request.started session_id=")


def test_a_key_that_was_sent_as_an_id_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    log_event("assistant.request.started", session_id="sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD", characters=5)
    assert "abcdefgh" not in JsonFormatter().format(caplog.records[-1])
    assert "abcdefgh" not in PlainFormatter().format(caplog.records[-1])


@pytest.mark.parametrize(("form", "is_json"), [("text", False), ("json", True), ("auto", True)])
def test_lines_are_for_people_or_machines_as_wanted(
    form: Literal["auto", "text", "json"], is_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    try:
        configure_logs(form)
        logging.getLogger("server").warning("installing")
        root.handlers[-1].flush()
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    assert capsys.readouterr().out.startswith("{") == is_json


def test_a_person_on_a_terminal_reads_plain_lines_when_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    try:
        configure_logs(ServerSettings().log)
        logging.getLogger("server").warning("installing")
        root.handlers[-1].flush()
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    assert capsys.readouterr().out == "installing\n"


@pytest.mark.parametrize("form", ["text", "json", "auto"])
def test_the_form_of_the_lines_is_that_of_the_variable(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREWRIGHT_LOG", form)
    assert ServerSettings().log == form
