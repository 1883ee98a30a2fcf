"""Tables wrap at a terminal's width and are whole everywhere; in a pipe each row is a line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.output.columns import cell_width, rows_as_lines, wrapped
from tests.cli.conftest import Wirewright

ROWS = [
    ("short", "yes", "a description of several words that goes on"),
    ("much-longer", "no", "一二三四五六七八九十一二三四五"),
]


def test_rows_wrap_under_their_last_column() -> None:
    assert rows_as_lines(ROWS, 40) == [
        "short        yes  a description of",
        "                  several words that",
        "                  goes on",
        "much-longer  no   一二三四五六七八九十一",
        "                  二三四五",
    ]


def test_rows_are_lines_where_nothing_bounds_them() -> None:
    assert rows_as_lines(ROWS, None) == [
        "short        yes  a description of several words that goes on",
        "much-longer  no   一二三四五六七八九十一二三四五",
    ]


def test_a_long_first_cell_stands_alone() -> None:
    rows = [("a" * 30, "what it is"), ("b", "what that is")]
    assert rows_as_lines(rows, 40) == ["a" * 30, "   what it is", "b  what that is"]


@given(st.text(alphabet="ab ü 漢字,-", max_size=80), st.integers(min_value=12, max_value=60))
def test_nothing_is_lost_and_only_single_words_are_wider(text: str, width: int) -> None:
    lines = wrapped(text, width, indent="  ")
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cell_width(line) <= width or " " not in line.strip() for line in lines)


LISTS = [
    ["components", "search", "read a file"],
    ["models", "list"],
    ["components", "describe", "Agent"],
    ["components", "describe", "Prompt Template"],
    ["flow", "templates"],
    ["runner", "status"],
    ["doctor"],
    ["eval", "list", "--tag", "branch"],
]


@pytest.mark.parametrize("arguments", LISTS, ids=" ".join)
def test_lists_fit_60_80_and_200_columns_and_leave_nothing_out(
    arguments: list[str], wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    whole = wirewright(*arguments).out
    for columns in (60, 80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        out = wirewright(*arguments).out
        lines = out.splitlines()
        assert [line for line in lines if cell_width(line) > columns and " " in line.strip()] == []
        assert _without_sizes(out).split() == _without_sizes(whole).split()


def _without_sizes(text: str) -> str:
    """A text without decimal numbers, such as the free space of the disk."""
    return re.sub(r"\d+\.\d+", "N", text)
