"""What `make test` plays: a tenth of the largest tables, and no test that takes long, if its file has others.

A pytest plugin. With `--play part` the choice is always the same: it follows from the names of tests and from
`slow.txt`, which `--record-slow` writes. A test that the record does not know is played. Laws are tried with a quarter
of their examples.
"""

import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import is_hypothesis_test, settings

SLOW = Path(__file__).with_name("slow.txt")
"""How long tests took in a whole run: a line for each file, and below it a line for each test, seconds and name."""
NOTED = 0.2
"""Seconds from which a test stands in the record: a higher limit than the present one needs no new record."""
LONG = 0.2
"""Seconds from which a test is left out, if its file has another one."""
TOO_LONG = 10.0
"""Seconds from which it is left out in any case."""
PART = 10
"""One of how many rows of a table is played."""
LONG_TO_MAKE = frozenset({"wheel", "judgements"})
"""Fixtures that few tests share, and that take longer than `TOO_LONG`: it counts for each of their tests."""
EXAMPLES = 4
"""One of how many examples of a law is tried."""
FEWEST = 5
"""The examples that are tried of any law, if it has as many."""
SETTINGS = "_hypothesis_internal_use_settings"
"""Where hypothesis keeps the settings of a law, which can be given to it once only."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """What is played, and whether the record is written anew."""
    parser.addoption(
        "--play",
        choices=("all", "part"),
        default="all",
        help="all tests, or a tenth of the largest tables (marked `table`) and none of the slow ones",
    )
    parser.addoption("--record-slow", type=Path, metavar="FILE", help="write anew how long slow tests take")


def pytest_configure(config: pytest.Config) -> None:
    """Watch how long tests take, when that is to be recorded."""
    if config.option.record_slow is not None:
        config.pluginmanager.register(_OwnTime())
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(_Recorder(config.option.record_slow))


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Leave out rows of a table before they become tests: to make them, and to sort them out, takes half a second.

    A row that is asked for by its name is played in any case.
    """
    result = yield
    definition, config = metafunc.definition, metafunc.config
    named = any("[" in argument for argument in config.args)
    if config.option.play == "part" and definition.get_closest_marker("table") and not named:
        rows = metafunc._calls  # there is no public way
        ids = [f"{definition.nodeid}[{row.id}]" for row in rows]
        played = played_rows(set(ids))
        rows[:] = [row for row, name in zip(rows, ids, strict=True) if name in played]
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that take long."""
    if config.option.play == "part":
        shared = {item.nodeid for item in items if LONG_TO_MAKE & set(getattr(item, "fixturenames", ()))}
        slow = read_slow(SLOW) | dict.fromkeys(shared, TOO_LONG + 1)
        kept = part_of([item.nodeid for item in items], slow)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
        items[:] = [item for item in items if item.nodeid in kept]
        for law in {getattr(item, "obj", None) for item in items}:
            if is_hypothesis_test(law):
                try_fewer_examples(law)


def part_of(tests: list[str], slow: dict[str, float]) -> set[str]:
    """The ids of the tests that are played in part.

    Args:
        tests: all ids, but of rows of the largest tables only those that are played.
        slow: how many seconds the slow ones took.
    """
    kept = set(tests)
    files: dict[str, list[str]] = defaultdict(list)
    for test in kept:
        files[test.partition("::")[0]].append(test)
    for own in files.values():
        quickest = min(slow.get(test, 0.0) for test in own)
        spared = quickest if quickest <= TOO_LONG else 0.0
        kept.difference_update(test for test in own if slow.get(test, 0.0) >= LONG and slow[test] != spared)
    return kept


def played_rows(rows: Iterable[str]) -> set[str]:
    """A tenth of each table, and at least one row."""
    tables: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        tables[row.partition("[")[0]].append(row)
    played: set[str] = set()
    for table in tables.values():
        table.sort(key=lambda row: crc32(row.encode()))
        played.update(table[: max(1, len(table) // PART)])
    return played


def try_fewer_examples(law: object) -> None:
    """Try a law with a part of its examples."""
    usual = getattr(law, SETTINGS)
    fewer = min(usual.max_examples, max(FEWEST, usual.max_examples // EXAMPLES))
    setattr(law, SETTINGS, settings(usual, max_examples=fewer))


def read_slow(path: Path) -> dict[str, float]:
    """The record of slow tests: seconds by id."""
    slow: dict[str, float] = {}
    file = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith(" "):
            seconds, test = line.split(maxsplit=1)
            slow[f"{file}::{test}"] = float(seconds)
        else:
            file = line
    return slow


def write_slow(path: Path, seconds: Mapping[str, float], rows: set[str]) -> None:
    """Write the record, without rows that are never played in part.

    Args:
        path: the file.
        seconds: how many all tests took, by id.
        rows: those of them that are rows of the largest tables.
    """
    files: dict[str, list[str]] = defaultdict(list)
    left_out = rows - played_rows(rows)
    for test, taken in sorted(seconds.items()):
        if taken >= NOTED and test not in left_out:
            file, _, name = test.partition("::")
            files[file].append(f"  {taken:.2f} {name}\n")
    path.write_text("".join(f"{file}\n{''.join(lines)}" for file, lines in files.items()), "utf-8")


class _OwnTime:
    """Takes from the time of setting up a test what many share: fixtures of a wider scope."""

    def __init__(self) -> None:
        self._shared = 0.0
        self._since: float | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Note how long a shared fixture takes, with those that it asks for."""
        if fixturedef.scope == "function" or self._since is not None:
            return (yield)
        self._since = time.perf_counter()
        try:
            return (yield)
        finally:
            self._shared += time.perf_counter() - self._since
            self._since = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Leave out what was noted."""
        report = yield
        report.duration -= self._shared
        self._shared = 0.0
        return report


class _Recorder:
    """Adds up what tests take in all their phases."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: dict[str, float] = defaultdict(float)
        self._rows: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the time of a phase."""
        self._seconds[report.nodeid] += report.duration
        if "table" in report.keywords:
            self._rows.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the record."""
        write_slow(self._path, self._seconds, self._rows)
