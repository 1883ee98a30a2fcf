"""`make test` plays the same part each time: quick tests of every file, and a tenth of each of the largest tables."""

import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.tries.part import LONG, PART, SLOW, TOO_LONG, part_of, read_slow

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
    kept = part_of(sorted(tests), set(), slow)
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
    kept = part_of(order, tests, {})
    mixed.shuffle(order)
    assert part_of(order, tests, {}) == kept
    for table in {test.partition("[")[0] for test in tests}:
        rows = [test for test in tests if test.startswith(f"{table}[")]
        assert sum(row in kept for row in rows) == max(1, len(rows) // PART)


def test_the_record_names_files_that_there_are() -> None:
    slow = read_slow(SLOW)
    assert slow
    assert not [name for name in slow if not (ROOT / file_of(name)).is_file()]
