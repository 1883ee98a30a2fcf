"""`wirewright eval mutate`: the matrix, the rate and its floor, and lists that cannot be used."""

from pathlib import Path

import pytest

from tests.cli.conftest import Wirewright


@pytest.mark.engine
def test_a_journal_is_mutated_and_the_matrix_printed(wirewright: Wirewright, warm_engine: None, tmp_path: Path) -> None:
    journal = tmp_path / "attempts.jsonl"
    wirewright("eval", "run", "--player", "oracle", "--scenario", "echo", "--out", journal)
    done = wirewright("eval", "mutate", journal, "--json")
    assert done.code == 0
    assert done.json["kill_rate"] >= 0.95
    assert done.json["operators"]["drop_edge"]["tried"] == 1
    assert "edges" in done.json["operators"]["drop_edge"]["seen_by"]
    assert (done.json["controls"], done.json["disturbed"]) == (1, [])


OPEN = """id: open-echo
about: Something comes back; which flow does it is left open.
turns:
  - say: Make me a bot that repeats what I type.
open: true
expect:
  types: [ChatInput, ChatOutput]
"""


@pytest.mark.engine
def test_what_no_evaluator_checks_in_an_open_scenario_survives_and_is_listed(
    wirewright: Wirewright, warm_engine: None, tmp_path: Path
) -> None:
    folder, journal = tmp_path / "scenarios", tmp_path / "attempts.jsonl"
    folder.mkdir()
    (folder / "open-echo.yaml").write_text(OPEN, encoding="utf-8")
    mine = ("eval", "--scenarios", folder)
    assert wirewright(*mine, "run", "--player", "demo", "--out", journal).code == 0
    done = wirewright(*mine, "mutate", journal)
    assert done.code == 1
    assert "survived open-echo/add_edge/0" in done.out
    assert "1 survivor is of an open scenario, which has no reference flow: add probes" in done.out
    assert "0 of 1 unchanged attempts were flagged." in " ".join(done.out.split())
    fixed = wirewright(*mine, "fix", journal)
    assert (fixed.code, fixed.out) == (0, "A fix was found for 0 of 1 attempts.\n")


def test_a_list_or_a_journal_that_cannot_be_used_is_named(wirewright: Wirewright, tmp_path: Path) -> None:
    journal = tmp_path / "attempts.jsonl"
    journal.write_text("", encoding="utf-8")
    bad = tmp_path / "accepted.yaml"
    bad.write_text("a: b", encoding="utf-8")
    done = wirewright("eval", "mutate", journal, "--accept", bad, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "bad_list")
    done = wirewright("eval", "mutate", tmp_path / "none.jsonl", "--json")
    assert done.code == 2


@pytest.mark.engine
def test_the_smallest_fix_of_a_failed_attempt_is_printed_saved_and_reported(
    wirewright: Wirewright, warm_engine: None, tmp_path: Path
) -> None:
    journal, fixes, page = tmp_path / "attempts.jsonl", tmp_path / "fixes.jsonl", tmp_path / "report.html"
    wirewright("eval", "run", "--player", "demo", "--scenario", "edit-two-places", "--out", journal)
    done = wirewright("eval", "fix", journal, "--out", fixes, "--json")
    assert done.code == 0
    (fix,) = done.json["fixes"]
    assert (fix["scenario"], fix["whole"], fix["proven"]) == ("edit-two-places", 1, True)
    assert [action["kind"] for action in fix["actions"]] == ["configure"]
    assert wirewright("eval", "report", journal, "--fixes", fixes, "--out", page).code == 0
    html = page.read_text(encoding="utf-8")
    assert "Built, with the fix" in html
    assert "1 change away" in html


def test_a_fix_is_sought_only_for_scenarios_that_are_as_they_were(wirewright: Wirewright, tmp_path: Path) -> None:
    journal = tmp_path / "attempts.jsonl"
    journal.write_text('{"scenario": "echo", "digest": "old", "player": "p"}\n', encoding="utf-8")
    done = wirewright("eval", "fix", journal, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "other_scenario")
    done = wirewright("eval", "fix", journal, "--out", tmp_path / "none" / "fixes.jsonl", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "unwritable")
