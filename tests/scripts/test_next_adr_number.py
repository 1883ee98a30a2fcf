"""The numbering of decision records, and the checks of their form."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.next_adr_number import faults, next_numbers

ROOT = Path(__file__).parents[2]
GOOD = """---
status: accepted
date: 2026-11-23
---

# Keep records

## Context and Problem Statement

People ask why.

## Decision Drivers

- Newcomers.

## Considered Options

1. Records.
2. Memory.

## Decision Outcome

Records.

### Consequences

- Good: answers.
- Bad: work.

### Confirmation

This test.
"""


def test_numbers_follow_the_highest_and_gaps_stay(tmp_path: Path) -> None:
    for name in ("0001-first.md", "0007-later.md", "notes.txt"):
        (tmp_path / name).write_text(GOOD)
    assert next_numbers(tmp_path, 3) == ["0008", "0009", "0010"]


def test_the_number_of_a_deleted_record_is_not_used_again(tmp_path: Path) -> None:
    (tmp_path / "0001-first.md").write_text(GOOD)
    (tmp_path / "README.md").write_text("| number | was |\n| --- | --- |\n| 0004 | soak shares |\n")
    assert next_numbers(tmp_path) == ["0005"]


def test_an_empty_folder_starts_with_one(tmp_path: Path) -> None:
    assert next_numbers(tmp_path) == ["0001"]


def test_the_script_prints_a_number_a_line(tmp_path: Path) -> None:
    (tmp_path / "0001-first.md").write_text(GOOD)
    command = [sys.executable, str(ROOT / "scripts" / "next_adr_number.py"), "--dir", str(tmp_path), "--count", "2"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0002\n0003\n"
    refused = subprocess.run([*command[:-1], "0"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2


def test_a_well_formed_record_has_no_fault(tmp_path: Path) -> None:
    (tmp_path / "0001-keep-records.md").write_text(GOOD)
    assert faults(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("---\nstatus", "status", "does not start with front matter"),
        ("status: accepted", "status: [", "not YAML"),
        ("status: accepted", "status: decided", "has status 'decided'"),
        ("date: 2026-11-23", "date: yesterday", "has no date"),
        ("status: accepted", "status: superseded", "`superseded-by` names no record"),
        ("# Keep records", "Keep records", "exactly one title"),
        ("## Decision Drivers", "## Forces", "lacks the section 'Decision Drivers'"),
        ("People ask why.\n", "", "says nothing in 'Context and Problem Statement'"),
        ("2. Memory.\n", "", "fewer than two options"),
        ("Newcomers.", "[INVESTIGATE: who asks?]", "open questions"),
    ],
)
def test_a_fault_of_form_is_named(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in GOOD
    (tmp_path / "0001-keep-records.md").write_text(GOOD.replace(old, new, 1))
    assert len(faults(tmp_path)) >= 1
    assert fault in " ".join(faults(tmp_path))


def test_names_and_numbers_are_checked(tmp_path: Path) -> None:
    for name in ("0001-one.md", "0001-two.md", "3-Short Number.md"):
        (tmp_path / name).write_text(GOOD)
    assert faults(tmp_path) == [
        "0001-two.md: has the number of 0001-one.md",
        "3-Short Number.md: is not named NNNN-slugified-title.md",
    ]


def test_the_repositorys_records_are_well_formed() -> None:
    assert faults(ROOT / "docs" / "adrs") == []
