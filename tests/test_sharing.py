"""Every row of a table is in exactly one share, and a soak's rounds come to all of them."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sharing import Share

ROOT = Path(__file__).parent.parent


@given(st.text(), st.integers(1, 12), st.integers(0, 100))
def test_every_name_is_in_one_share_and_rounds_that_follow_each_other_come_to_all(
    name: str, of: int, first: int
) -> None:
    rounds = [Share.read(f"{number}/{of}") for number in range(first, first + of)]
    assert [share.has(name) for share in rounds].count(True) == 1


@pytest.mark.parametrize("text", ["", "3", "1/0", "a/b", "-1/4", "1/", "/2"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write K/N"):
        Share.read(text)


def test_only_rows_of_tables_are_left_out() -> None:
    def collected(share: str) -> set[str]:
        path = "tests/runtime/guard/test_samples.py"
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", "--tables", share, path]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return {line for line in done.stdout.splitlines() if "::" in line}

    shares = [collected(f"{number}/2") for number in (1, 2)]
    assert all(len(share) > 100 for share in shares)
    both = shares[0] & shares[1]
    assert "tests/runtime/guard/test_samples.py::test_there_are_enough_samples_and_none_twice" in both
    assert not [name for name in both if "test_a_benign_sample_runs" in name]
