"""`wirewright eval mutate`: the matrix, the rate and its floor, and lists that cannot be used."""

from pathlib import Path

import pytest

from tests.cli.conftest import Wirewright


@pytest.mark.engine
def test_a_journal_is_mutated_and_the_matrix_told(
    wirewright: Wirewright, runner_environment: object, tmp_path: Path
) -> None:
    journal = tmp_path / "attempts.jsonl"
    wirewright("eval", "run", "--player", "oracle", "--scenario", "echo", "--out", journal)
    done = wirewright("eval", "mutate", journal, "--json")
    assert done.code == 0
    assert done.json["kill_rate"] >= 0.95
    assert done.json["operators"]["drop_edge"]["tried"] == 1
    assert "edges" in done.json["operators"]["drop_edge"]["seen_by"]


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
def test_the_smallest_fix_of_a_failed_attempt_is_told(
    wirewright: Wirewright, runner_environment: object, tmp_path: Path
) -> None:
    journal = tmp_path / "attempts.jsonl"
    wirewright("eval", "run", "--player", "demo", "--scenario", "edit-two-places", "--out", journal)
    done = wirewright("eval", "fix", journal, "--json")
    assert done.code == 0
    (fix,) = done.json["fixes"]
    assert (fix["scenario"], fix["whole"], fix["proven"]) == ("edit-two-places", 1, True)
    assert [action["kind"] for action in fix["actions"]] == ["configure"]
