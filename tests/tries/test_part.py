"""`make test` plays the same part each time: quick tests of every file, and a tenth of each of the largest tables."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tries.part import (
    LONG,
    NOTED,
    PART,
    SLOW,
    TOO_LONG,
    part_of,
    played_rows,
    read_slow,
    try_fewer_examples,
    write_slow,
)

ROOT = Path(__file__).parents[2]
FILES = st.sampled_from(["tests/a.py", "tests/b/c.py", "tests/d.py"])
NAMES = st.builds("{}::test_{}[{}]".format, FILES, st.sampled_from("xyz"), st.integers(0, 40))
TESTS = st.sets(NAMES, min_size=1)
SECONDS = st.dictionaries(NAMES, st.floats(LONG, 3 * TOO_LONG))


def file_of(test: str) -> str:
    return test.partition("::")[0]


@given(TESTS, SECONDS)
def test_every_file_plays_what_is_quick_and_something_at_least_unless_all_of_it_takes_too_long(
    tests: set[str], slow: dict[str, float]
) -> None:
    kept = part_of(sorted(tests), slow)
    assert tests - set(slow) <= kept <= tests
    for file in {file_of(test) for test in tests}:
        own = [slow.get(test, 0.0) for test in tests if file_of(test) == file]
        played = [slow.get(test, 0.0) for test in kept if file_of(test) == file]
        assert played or min(own) > TOO_LONG
        assert not played or min(played) == min(own)
        assert all(seconds < LONG for seconds in played) or set(played) == {min(own)}


@given(TESTS, st.randoms())
def test_each_table_plays_a_tenth_and_always_the_same(tests: set[str], mixed: random.Random) -> None:
    order = sorted(tests)
    kept = played_rows(order)
    mixed.shuffle(order)
    assert played_rows(order) == kept
    for table in {test.partition("[")[0] for test in tests}:
        rows = [test for test in tests if test.startswith(f"{table}[")]
        assert sum(row in kept for row in rows) == max(1, len(rows) // PART)


def test_the_record_names_files_that_there_are() -> None:
    slow = read_slow(SLOW)
    assert slow
    assert not [name for name in slow if not (ROOT / file_of(name)).is_file()]


@given(TESTS, SECONDS)
def test_what_is_recorded_decides_as_what_was_measured(
    tmp_path_factory: pytest.TempPathFactory, tests: set[str], slow: dict[str, float]
) -> None:
    rows = {test for test in tests if "test_x[" in test}
    measured = {test: round(slow.get(test, NOTED / 2), 2) for test in tests}
    record = tmp_path_factory.getbasetemp() / "slow.txt"
    write_slow(record, measured, rows)
    made = sorted((tests - rows) | played_rows(rows))
    assert part_of(made, read_slow(record)) == part_of(made, measured)
    assert all(seconds >= NOTED for seconds in read_slow(record).values())


@pytest.mark.parametrize(("usual", "fewer"), [(100, 25), (60, 15), (8, 5), (3, 3)])
def test_a_law_is_tried_with_a_part_of_its_examples(usual: int, fewer: int) -> None:
    tried: list[int] = []

    @settings(max_examples=usual, derandomize=True, database=None)
    @given(st.integers())
    def law(number: int) -> None:
        tried.append(number)

    law()
    assert len(tried) == usual
    tried.clear()
    try_fewer_examples(law)
    law()
    assert len(tried) == fewer


def run_part(folder: Path, *options: str, at: str = "") -> subprocess.CompletedProcess[str]:
    """Play the tests of a folder, or the one that is named, with no other plugin."""
    command = [sys.executable, "-m", "pytest", *options, at or str(folder)]
    plugins = "-p xdist -p tests.tries.part"
    environment = {
        "PYTHONPATH": str(ROOT),
        "PATH": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": plugins,
    }
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


TABLES = """
import pytest

class TestRows:
    @pytest.mark.table
    @pytest.mark.parametrize("row", range(25))
    @pytest.mark.parametrize("kind", ["plain", "gr\u00fcn"])
    def test_table(self, row, kind):
        pass

@pytest.mark.table
def test_table_without_rows():
    pass

@pytest.mark.parametrize("row", range(20))
def test_of_no_table(row):
    pass
"""
MADE = """
def pytest_itemcollected(item):
    print("made", item.nodeid)
"""


def made_and_played(folder: Path, *options: str) -> tuple[list[str], set[str]]:
    """The tests of the tables that are made, and those that are played."""
    (folder / "test_sample.py").write_text(TABLES, encoding="utf-8")
    (folder / "conftest.py").write_text(MADE)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = table\n")
    ended = run_part(folder, "-rA", "-s", *options)
    assert ended.returncode == 0, ended.stdout
    lines = [line.partition(" ") for line in ended.stdout.splitlines()]
    return [name for word, _, name in lines if word == "made"], {name for word, _, name in lines if word == "PASSED"}


def test_rows_that_are_not_played_do_not_become_tests(tmp_path: Path) -> None:
    made, played = made_and_played(tmp_path, "--play", "part")
    assert set(made) == played
    assert len(made) == 5 + 1 + 20
    every, all_played = made_and_played(tmp_path)
    assert set(every) == all_played
    assert len(every) == 50 + 1 + 20
    table = [name for name in every if "test_table[" in name]
    assert {name for name in made if "test_table[" in name} == played_rows(table)


def test_a_row_that_is_named_is_played(tmp_path: Path) -> None:
    every, _ = made_and_played(tmp_path)
    one = next(name for name in every if "test_table[" in name and name not in played_rows(every))
    command = run_part(tmp_path, "--play", "part", at=one)
    assert "1 passed" in command.stdout


SHARING = """
import time
import pytest
from _pytest import timing

now = 0.0
time.perf_counter = timing.perf_counter = lambda: now

def takes(seconds):
    global now
    now += seconds

@pytest.fixture(scope="session")
def shared():
    takes(2)

@pytest.fixture(scope="module")
def shared_also(shared, request):
    takes(1)
    request.getfixturevalue("shared_late")

@pytest.fixture(scope="session")
def shared_late():
    takes(4)

@pytest.fixture
def own():
    takes(0.25)
    yield
    takes(0.5)

def test_shares(shared_also):
    takes(0.125)

def test_has_its_own(shared_also, own):
    takes(8)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_what_tests_share_counts_for_none_of_them(tmp_path: Path, workers: tuple[str, ...]) -> None:
    (tmp_path / "test_sample.py").write_text(SHARING)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = table\n")
    record = tmp_path / "record.txt"
    ended = run_part(tmp_path, "--record-slow", str(record), *workers)
    assert ended.returncode == 0, ended.stdout
    assert read_slow(record) == {"test_sample.py::test_has_its_own": 8.75}


def test_tests_of_what_takes_too_long_to_make_are_left_out_and_the_others_of_their_file_are_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_sample.py").write_text(
        """
import pytest

@pytest.fixture(scope="session")
def wheel():
    raise AssertionError("this takes too long")

def test_of_the_wheel(wheel):
    pass

def test_of_something_else():
    pass
"""
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = table\n")
    ended = run_part(tmp_path, "--play", "part")
    assert "1 passed, 1 deselected" in ended.stdout
