"""Fixes as JSON lines: what is written is read again, and what is no fix is told by its line."""

from pathlib import Path

import pytest

from evals.attempt import Attempt, Versions
from evals.fix.records import Fix, read_fixes, write_fixes
from evals.fix.search import SmallestFix
from evals.journal import JournalError
from flows.actions import Configure
from flows.document import Flow

ATTEMPT = Attempt(scenario="s", digest="d", repeat=2, player="p", versions=Versions(lfx="1"))
FOUND = SmallestFix(actions=(Configure("a", "f", "old", "new"),), flow=Flow.empty(), whole=3, tries=7, proven=True)


def test_what_is_written_is_read_again_and_belongs_to_its_attempt(tmp_path: Path) -> None:
    fix = Fix.of(ATTEMPT, FOUND)
    write_fixes(tmp_path / "fixes.jsonl", [fix, fix])
    assert list(read_fixes(tmp_path / "fixes.jsonl")) == [fix, fix]
    assert fix.key == ATTEMPT.key
    assert fix.actions == FOUND.actions


@pytest.mark.parametrize("line", ["{", "{}", '{"scenario": "s", "digest": "d", "player": "p", "actions": [{}]}'])
def test_a_line_that_is_no_fix_is_told_by_its_number(line: str, tmp_path: Path) -> None:
    path = tmp_path / "fixes.jsonl"
    write_fixes(path, [Fix.of(ATTEMPT, FOUND)])
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(JournalError, match=r"^fixes\.jsonl line 2: no fix"):
        list(read_fixes(path))
