"""Logs for Inspect AI: they have the form of its version 2, and say what our verdicts say."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from evals.exports.inspect_log import inspect_log
from evals.exports.recorded import Recorded
from evals.exports.writer import exported_files
from tests.evals.exports.conftest import KEY, TEMPLATE

SCHEMA = json.loads((Path(__file__).parent / "inspect_log.schema.json").read_text(encoding="utf-8"))
WRITTEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

Players = dict[str, list[Recorded]]


def test_the_schema_itself_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("player", ["hand", "another | `x`\n"])
def test_a_log_has_the_form_that_inspect_reads(player: str, players: Players) -> None:
    log = inspect_log(player, players[player], WRITTEN)
    written = json.loads(json.dumps(log, allow_nan=False))
    found: list[ValidationError] = list(Draft202012Validator(SCHEMA).iter_errors(written))  # pyright: ignore[reportUnknownMemberType]  (its stubs)
    assert found == []


def test_samples_say_what_the_verdicts_say(players: Players) -> None:
    log = json.loads(json.dumps(inspect_log("hand", players["hand"], WRITTEN)))
    samples = {(one["id"], one["epoch"]): one for one in log["samples"]}
    assert list(samples) == [("echo", 1), ("edit-template", 1), ("edit-template", 2)]
    failed, right, wrong = samples.values()
    assert (failed["error"]["message"], failed["scores"]) == ("no engine", {})
    assert (right["scores"]["passed"]["value"], wrong["scores"]["passed"]["value"]) == (True, False)
    assert right["input"] == [{"role": "user", "content": TEMPLATE.prompts[0]}]
    assert right["messages"][1]["role"] == "assistant"
    assert "wasted" not in right["scores"], "what is not scored is left out"
    assert (right["started_at"], right["completed_at"]) == ("2026-05-06T07:08:00+00:00", "2026-05-06T07:08:09+00:00")
    assert right["model_usage"] == {
        "hand": {"input_tokens": 30, "output_tokens": 4, "total_tokens": 34, "total_cost": 0.5}
    }
    (passed, *_) = log["results"]["scores"]
    assert (passed["name"], passed["scored_samples"], passed["unscored_samples"]) == ("passed", 2, 1)
    assert passed["metrics"]["mean"]["value"] == 0.5
    assert log["eval"]["metadata"]["agents"] == ["mine 3"]
    assert log["eval"]["packages"]["wirewright"] == "0.2.0"


def test_a_log_holds_no_keys(players: Players) -> None:
    text = json.dumps(inspect_log("hand", players["hand"], WRITTEN))
    assert "I changed it." in text
    assert KEY not in text


def test_the_target_of_a_scenario_to_keep_unseen_is_left_out(players: Players) -> None:
    for split, there in (("dev", True), ("test", False)):
        given = [
            Recorded(one.scenario.model_copy(update={"split": split}), one.attempt, one.verdict)
            for one in players["hand"]
        ]
        log = json.loads(json.dumps(inspect_log("hand", given, WRITTEN)))
        assert [bool(one["target"]) for one in log["samples"]] == [there] * 3


def test_the_same_journal_gives_the_same_files_with_safe_names(players: Players) -> None:
    files = exported_files("inspect", players, title="x", written=WRITTEN)
    assert files == exported_files("inspect", players, title="x", written=WRITTEN)
    assert len(files) == 2
    assert all(
        name.replace("-", "").replace("_", "").replace("+", "").removesuffix(".json").isalnum() for name in files
    )
    (old,) = [name for name in files if "another" in name]
    assert old.startswith("2026-01-02T03-04-05"), "a journal without dates has that of its file"
