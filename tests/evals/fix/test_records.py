"""Fixes as JSON lines: what is written is read again, and what is no fix is told by its line."""

from pathlib import Path

import pytest

from evals.attempt import Attempt, Versions
from evals.fix.records import Fix
from evals.fix.search import MinimalFix
from evals.jsonl import JsonLines, JsonLinesError
from flows.actions import Configure
from flows.document import Flow

ATTEMPT = Attempt(scenario="s", digest="d", repeat=2, player="p", versions=Versions(lfx="1"))
FOUND = MinimalFix(actions=(Configure("a", "f", "old", "new"),), flow=Flow.empty(), whole=3, tries=7, proven=True)


def test_what_is_written_is_read_again_and_belongs_to_its_attempt(tmp_path: Path) -> None:
    fix = Fix.of(ATTEMPT, FOUND)
    JsonLines(tmp_path / "fixes.jsonl", Fix).write([fix, fix])
    assert list(JsonLines(tmp_path / "fixes.jsonl", Fix).read()) == [fix, fix]
    assert fix.key == ATTEMPT.key
    assert fix.actions == FOUND.actions


@pytest.mark.parametrize("line", ["{", "{}", '{"scenario": "s", "digest": "d", "player": "p", "actions": [{}]}'])
def test_a_line_that_is_not_a_fix_is_reported_by_its_number(line: str, tmp_path: Path) -> None:
    path = tmp_path / "fixes.jsonl"
    JsonLines(path, Fix).write([Fix.of(ATTEMPT, FOUND)])
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(JsonLinesError, match=r"^fixes\.jsonl line 2: not a valid fix"):
        list(JsonLines(path, Fix).read())
