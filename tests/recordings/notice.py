"""Says at the end of a run that recorded runs are stale, which makes it minutes slower. A pytest plugin."""

import json

import pytest

from tests.recordings.sources import RECORDED, SOURCES, sources_digest

NOTICE = (
    "The recorded runs are of other sources: references were run on the engine. "
    "`python -m scripts.recorded_runs` records them again."
)
MANY = 1000
"""Tests of a run that is slowed down noticeably."""


def is_stale() -> bool:
    """Whether other sources decide what a run gives than when the runs were recorded."""
    with RECORDED.open(encoding="utf-8") as lines:
        return json.loads(lines.readline())[SOURCES] != sources_digest()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the notice, after a run of many tests."""
    passed = len(terminalreporter.stats.get("passed", ()))
    if passed >= MANY and is_stale():
        terminalreporter.write_line(NOTICE)
