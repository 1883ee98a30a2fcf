"""Tests that failed among thousands are played a second time, alone, and named: see `docs/adrs/0149`.

A pytest plugin. `--second-try N` allows it for at most N tests; more failures, and errors around tests, are final.
"""

import subprocess
import sys
from collections.abc import Generator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that allows a second try."""
    parser.addoption(
        "--second-try",
        type=int,
        default=0,
        metavar="N",
        help="play failed tests again alone, if they are at most N; those that pass then are named",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Play what failed again, after the summary of the whole run was printed; the second outcome is the run's."""
    result = yield
    config = session.config
    most: int = config.option.second_try
    if most and not hasattr(config, "workerinput") and session.exitstatus == pytest.ExitCode.TESTS_FAILED:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        assert isinstance(reporter, pytest.TerminalReporter)
        failed = list(dict.fromkeys(report.nodeid for report in reporter.getreports("failed")))
        if failed and len(failed) <= most and not reporter.getreports("error"):
            session.exitstatus = _again(reporter, failed)
    return result


def _again(reporter: pytest.TerminalReporter, failed: list[str]) -> int:
    reporter.section("second try, alone", sep="=")
    command = [sys.executable, "-m", "pytest", "-q", *failed]
    ended = subprocess.run(command, check=False, cwd=reporter.config.rootpath)
    if ended.returncode == 0:
        reporter.write_line(f"FAILED AMONG OTHERS, PASSED ALONE: {len(failed)}; look for what they wait for:")
        for name in failed:
            reporter.write_line(f"  {name}")
    return ended.returncode
