"""A dataset for Hugging Face: its card names every file, its rows share their columns and give nothing away."""

import json

import pytest
import yaml

from evals.exports.huggingface import dataset
from evals.exports.recorded import Recorded
from tests.evals.exports.conftest import KEY, TEMPLATE

Players = dict[str, list[Recorded]]

SCENARIOS = f"data/scenarios-{TEMPLATE.split}.jsonl"


@pytest.fixture
def files(players: Players) -> dict[str, str]:
    """The dataset of two players."""
    return dataset(players, "Two players: a test")


def test_the_card_has_a_header_that_names_every_file(files: dict[str, str]) -> None:
    _, header, body = files["README.md"].split("---\n", 2)
    card = yaml.safe_load(header)
    named = {one["path"] for config in card["configs"] for one in config["data_files"]}
    assert named == files.keys() - {"README.md"}
    assert (card["pretty_name"], card["size_categories"]) == ("Two players: a test", ["n<1K"])
    assert "| `hand` | 1 (50%) | 2 | 1 |" in body
    assert "| `another ¦ ´x´" in body, "a name is a code span on one line"


@pytest.mark.parametrize("path", ["data/attempts.jsonl", SCENARIOS])
def test_every_row_has_the_same_columns_and_a_column_has_one_type(path: str, files: dict[str, str]) -> None:
    rows = [json.loads(line) for line in files[path].splitlines()]
    assert rows
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    for column in rows[0]:
        kinds = {type(row[column]).__name__ for row in rows if row[column] is not None}
        assert len(kinds) <= 1, column


def test_rows_say_what_the_verdicts_say(files: dict[str, str]) -> None:
    rows = [json.loads(line) for line in files["data/attempts.jsonl"].splitlines()]
    found = {(row["player"][:4], row["scenario"], row["repeat"]): row for row in rows}
    right = found["hand", "edit-template", 0]
    assert (right["passed"], right["score_resolved"], right["tokens"], right["cost"]) == (True, 1.0, 34, 0.5)
    assert (right["agent"], right["harness"], right["ended"]) == ("mine 3", "0.2.0", "2026-05-06T07:08:09+00:00")
    failed = found["hand", "echo", 0]
    assert (failed["passed"], failed["harness_error"]) == (None, "no engine")


def test_neither_keys_nor_references_are_in_it(files: dict[str, str]) -> None:
    text = "".join(files.values())
    assert "I changed it." in text
    assert KEY not in text
    scenarios = [json.loads(line) for line in files[SCENARIOS].splitlines()]
    assert "reference" not in scenarios[0]
    assert (TEMPLATE.reference or "").strip() not in files[SCENARIOS]
