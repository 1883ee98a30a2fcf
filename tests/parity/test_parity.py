"""The inventory is whole and honest: every row of both specifications, each shown, explained, or said to be missing."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scripts.parity import (
    DISPOSITIONS,
    KINDS,
    MARK_LIMIT,
    PAGE,
    ROWS,
    SPECIFICATIONS,
    MarkedTest,
    marked_tests,
    rendered,
    rows,
    settled,
    showing,
)
from tests.shared.yaml_files import read_yaml

REQUIRED: dict[str, Any] = read_yaml(Path(__file__).parent / "required.yaml")
INVENTORY = rows()


@cache
def marked() -> list[MarkedTest]:
    """The tests that carry a parity mark, parsed once."""
    return marked_tests()


def numbers(written: str) -> Iterator[int]:
    """The numbers of a text such as `1-3, 7`."""
    for part in written.split(","):
        first, _, last = part.strip().partition("-")
        yield from range(int(first), int(last or first) + 1)


def test_every_decision_of_the_tools_is_a_row() -> None:
    wanted = {f"ADR-MCP-{number:03d}" for number in range(1, REQUIRED["decisions"] + 1)}
    assert wanted - {row.id for row in INVENTORY if row.kind == "adr"} == set()


def test_every_scenario_of_the_tools_is_a_row_under_its_heading() -> None:
    titles = [row.title for row in INVENTORY if (row.specification, row.kind) == ("mcp", "scenario")]
    assert sorted(titles) == sorted(REQUIRED["scenarios"])


@pytest.mark.parametrize(
    ("specification", "kind"), [(name, kind) for name, kinds in REQUIRED["lines"].items() for kind in kinds]
)
def test_every_line_that_asks_for_something_has_its_row(specification: str, kind: str) -> None:
    have = {row.line for row in INVENTORY if (row.specification, row.kind) == (specification, kind)}
    assert set(numbers(REQUIRED["lines"][specification][kind])) - have == set()


@pytest.mark.parametrize("kind", REQUIRED["counts"])
def test_what_stands_in_running_text_is_not_thinned_out(kind: str) -> None:
    assert sum((row.specification, row.kind) == ("assistant", kind) for row in INVENTORY) >= REQUIRED["counts"][kind]


def test_rows_are_well_formed_and_none_is_there_twice() -> None:
    ids = [row.id for row in INVENTORY]
    assert sorted({row for row in ids if ids.count(row) > 1}) == []
    strange = [
        row.id
        for row in INVENTORY
        if row.kind not in KINDS or row.specification not in SPECIFICATIONS or row.disposition not in DISPOSITIONS
    ]
    assert strange == []
    assert [row.id for row in INVENTORY if not row.title.strip() or row.line < 1] == []


def test_every_back_end_row_has_a_test_or_says_what_is_missing() -> None:
    by_row = showing(marked())
    backend = [row for row in INVENTORY if row.disposition == "backend"]
    assert [row.id for row in backend if not row.missing and row.id not in by_row] == [], "mark a test with these"
    settled_by_now = [row.id for row in INVENTORY if row.missing and row.id in by_row]
    assert settled_by_now == [], "these have a test: run python -m scripts.parity"
    assert [row.id for row in INVENTORY if row.missing and row.disposition != "backend"] == []


def test_no_row_waits_for_the_page_or_the_service_to_come() -> None:
    waiting = [row.id for row in INVENTORY if row.disposition in ("page", "service")]
    assert waiting == [], "show it by a test, or say why it is done differently"


def test_a_row_that_the_back_end_does_not_show_has_its_reason() -> None:
    assert [row.id for row in INVENTORY if row.disposition != "backend" and not row.reason.strip()] == []
    assert [row.id for row in INVENTORY if row.disposition == "backend" and row.reason] == []


def test_every_mark_names_rows_that_there_are_and_no_test_shows_too_many() -> None:
    known = {row.id for row in INVENTORY}
    assert {f"{test.path}: {row}" for test in marked() for row in test.rows if row not in known} == set()
    assert [f"{test.path}: {test.name}" for test in marked() if len(set(test.rows)) > MARK_LIMIT] == []
    assert [f"{test.path}: {test.name}" for test in marked() if not test.name.startswith("test_")] == []


def test_the_page_is_what_inventory_and_marks_give() -> None:
    assert PAGE.read_text(encoding="utf-8") == rendered(INVENTORY, marked()), "run python -m scripts.parity"


def test_marks_are_found_without_running_anything(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "raise SystemExit\n"
        "class TestIt:\n"
        '    @pytest.mark.parity("a", "b")\n'
        '    @pytest.mark.parity("c")\n'
        "    @pytest.mark.anyio\n"
        "    async def test_it(self): ...\n"
        "@pytest.mark.parity(ROW)\n"
        "def test_other(): ...\n"
        "def test_unmarked(): ...\n"
    )
    found = {test.name: test.rows for test in marked_tests(tmp_path)}
    assert found == {"test_it": ("a", "b", "c"), "test_other": ("ROW",)}


def test_missing_goes_when_a_test_has_come_and_nothing_else_changes() -> None:
    text = ROWS.read_text(encoding="utf-8")
    assert settled(text, []) == text
    done = settled(text, marked())
    before, after = rows(text), rows(done)
    assert [(row.id, row.title, row.reason) for row in after] == [(row.id, row.title, row.reason) for row in before]
    shown = {row for test in marked() for row in test.rows}
    assert [row.missing for row in after] == ["" if row.id in shown else row.missing for row in before]


def test_a_row_with_an_unknown_key_is_reported() -> None:
    with pytest.raises(ValueError, match="not well formed"):
        rows("- {id: a, colour: red}")
