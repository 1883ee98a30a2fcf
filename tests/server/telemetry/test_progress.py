"""The progress of the engine's installation on a terminal and in a log."""

import io
import logging
from collections.abc import Generator

import pytest

from runtime.install.progress import ProgressMessage
from server.telemetry.progress import SparseProgress, TerminalHandler, can_redraw, log_progress, status_line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def logger() -> Generator[logging.Logger]:
    found = logging.getLogger("server.telemetry.progress")
    before = found.level
    found.setLevel(logging.INFO)
    yield found
    found.setLevel(before)
    found.handlers.clear()


def downloaded(share: float) -> ProgressMessage:
    return ProgressMessage(f"{share:.0%} downloaded", share)


def test_the_last_line_is_replaced_and_log_lines_stand_above_it_when_the_terminal_can(logger: logging.Logger) -> None:
    terminal = Terminal()
    logger.addHandler(TerminalHandler(terminal))
    log_progress(downloaded(0.5), under_way=True)
    logger.info("a request")
    log_progress("The flow engine is ready", under_way=False)
    logger.info("another")
    clear, bar = "\r\x1b[K", status_line("50% downloaded", 0.5)
    assert terminal.getvalue() == (f"{clear}{bar}{clear}a request\n{bar}{clear}The flow engine is ready\nanother\n")
    assert bar.startswith("[############------------] 50%")


def test_nothing_is_left_of_the_last_line_when_the_log_ends_while_it_stands(logger: logging.Logger) -> None:
    terminal = Terminal()
    handler = TerminalHandler(terminal)
    logger.addHandler(handler)
    log_progress("Starting", under_way=True)
    handler.close()
    assert terminal.getvalue().endswith("Starting\r\x1b[K")


def test_a_log_has_few_lines_without_control_characters_when_it_is_a_file(logger: logging.Logger) -> None:
    file = io.StringIO()
    handler = logging.StreamHandler(file)
    handler.addFilter(SparseProgress())
    logger.addHandler(handler)
    log_progress("Installing", under_way=True)
    for hundredth in range(101):
        log_progress(downloaded(hundredth / 100), under_way=True)
    log_progress("Ready", under_way=False)
    assert file.getvalue().splitlines() == [
        "Installing",
        *(f"{share}% downloaded" for share in (0, 25, 50, 75, 100)),
        "Ready",
    ]


@pytest.mark.parametrize(
    ("terminal", "kind", "able"), [(True, "xterm", True), (True, "dumb", False), (False, "xterm", False)]
)
def test_lines_are_replaced_only_when_the_output_is_a_terminal_that_can(
    terminal: bool, kind: str, able: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", kind)
    assert can_redraw(Terminal() if terminal else io.StringIO()) is able


def test_the_line_fits_when_the_terminal_is_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    assert len(status_line("x" * 100, 0.1)) == 29
