"""What `make test` plays: a tenth of the largest tables, and no test that takes long, if its file has others.

A pytest plugin. With `--play part` the choice is always the same: it follows from the names of tests and from
`slow.txt`, which `--record-slow` writes. A test that the record does not know is played.
"""

from collections import defaultdict
from pathlib import Path
from zlib import crc32

import pytest

SLOW = Path(__file__).with_name("slow.txt")
"""The tests that took at least a second in a whole run: seconds and id, a line each."""
LONG = 1.0
"""Seconds from which a test is left out, if its file has another one."""
TOO_LONG = 10.0
"""Seconds from which it is left out in any case."""
PART = 10
"""One of how many rows of a table is played."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """What is played, and whether the record is written anew."""
    parser.addoption(
        "--play",
        choices=("all", "part"),
        default="all",
        help="all tests, or a tenth of the largest tables (marked `table`) and none of the slow ones",
    )
    parser.addoption("--record-slow", action="store_true", help="write anew which tests are slow")


def pytest_configure(config: pytest.Config) -> None:
    """Watch how long tests take, when that is to be recorded."""
    if config.option.record_slow and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what a part does not hold."""
    if config.option.play == "part":
        rows = {item.nodeid for item in items if item.get_closest_marker("table")}
        kept = part_of([item.nodeid for item in items], rows, read_slow(SLOW))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
        items[:] = [item for item in items if item.nodeid in kept]


def part_of(tests: list[str], rows: set[str], slow: dict[str, float]) -> set[str]:
    """The ids of the tests that are played in part.

    Args:
        tests: all ids.
        rows: those of them that are rows of the largest tables.
        slow: how many seconds the slow ones took.
    """
    tables: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        tables[row.partition("[")[0]].append(row)
    kept = set(tests) - rows
    for table in tables.values():
        table.sort(key=lambda row: crc32(row.encode()))
        kept.update(table[: max(1, len(table) // PART)])
    files: dict[str, list[str]] = defaultdict(list)
    for test in kept:
        files[test.partition("::")[0]].append(test)
    for own in files.values():
        quickest = min(slow.get(test, 0.0) for test in own)
        spared = quickest if quickest <= TOO_LONG else 0.0
        kept.difference_update(test for test in own if slow.get(test, 0.0) >= LONG and slow[test] != spared)
    return kept


def read_slow(path: Path) -> dict[str, float]:
    """The record of slow tests: seconds by id."""
    lines = (line.split(" ", 1) for line in path.read_text("utf-8").splitlines())
    return {name: float(seconds) for seconds, name in lines}


class _Recorder:
    """Adds up what tests take in all their phases but setting up, which may start what many share."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the time of a phase."""
        if report.when != "setup":
            self._seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the record."""
        slow = sorted((name, seconds) for name, seconds in self._seconds.items() if seconds >= LONG)
        SLOW.write_text("".join(f"{seconds:.1f} {name}\n" for name, seconds in slow), "utf-8")
