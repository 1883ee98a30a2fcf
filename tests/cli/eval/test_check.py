"""`wirewright eval check`: a flow file against a scenario, with the inputs on which it differs."""

import json
import re
import shlex
from pathlib import Path

import pytest

from evals.play.flow_check import FLOW_SCORES
from evals.score import EVALUATORS
from tests.cli.conftest import Wirewright
from tests.evals.conftest import scenario_named
from tests.shared.flow_texts import ECHO, WORD_COUNT, WORD_COUNTER

MANUAL = Path(__file__).parents[3] / "docs" / "evaluations.md"
BRANCH = scenario_named("branch-urgent")
ECHOES = WORD_COUNTER.replace("str(len(self.text.split()))", "self.text")
"""A component of one's own that gives what it gets."""


def written(folder: Path, text: str | None) -> Path:
    """A file with a flow's text."""
    assert text is not None
    path = folder / "given.flow"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.engine
def test_a_right_flow_passes_as_spec_text_export_and_standard_input(
    wirewright: Wirewright, warm_engine: None, tmp_path: Path
) -> None:
    spec, export = written(tmp_path, BRANCH.alternatives[1]), tmp_path / "given.json"
    assert wirewright("flow", "build", spec, "--out", export).code == 0
    for arguments, typed in (((spec,), b""), ((export,), b""), (("-",), spec.read_bytes())):
        done = wirewright("eval", "check", BRANCH.id, *arguments, "--json", stdin=typed)
        assert (done.code, done.json["ok"], done.json["scenario"]) == (0, True, BRANCH.id)
        assert (done.json["differences"], done.json["faults"]) == ([], [])
        assert done.json["compared"] > 8


@pytest.mark.engine
def test_a_wrong_flow_fails_with_the_inputs_on_which_it_differs_and_both_outputs(
    wirewright: Wirewright, warm_engine: None, tmp_path: Path
) -> None:
    path = written(tmp_path, BRANCH.wrong[1].flow)  # only exact words count
    done = wirewright("eval", "check", BRANCH.id, path, "--differences", "3", "--json")
    assert (done.code, done.json["ok"], done.json["verdict"]["passed"]) == (1, False, False)
    differences = done.json["differences"]
    assert len(differences) == 3
    assert done.json["compared"] > 3
    for one in differences:
        assert one["given"]["outputs"] == [f"Noted: {one['input']['text']}"]
        assert one["wanted"]["outputs"] == [f"Calling support: {one['input']['text']}"]
    scores = {score["name"]: score for score in done.json["verdict"]["scores"]}
    assert list(scores) == list(EVALUATORS)
    assert scores["behaves"]["value"] is False
    assert {name for name, score in scores.items() if score["value"] is not None} <= FLOW_SCORES


@pytest.mark.engine
def test_a_person_sees_each_score_with_its_reason_then_the_differences_and_the_verdict(
    wirewright: Wirewright, warm_engine: None, tmp_path: Path
) -> None:
    done = wirewright("eval", "check", BRANCH.id, written(tmp_path, ECHO))
    assert done.code == 1
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[: len(FLOW_SCORES)]] == [
        name for name in EVALUATORS if name in FLOW_SCORES
    ]
    assert any(line.startswith("ran") and " no " in line and "'urgent printer on fire'" in line for line in lines)
    at = lines.index("It differs from the reference on 5 of the first 5 inputs:")
    shown = "  for 'take your time' (given) it gives 'take your time', and the reference 'Noted: take your time'"
    assert shown in lines[at + 1 : at + 6]
    assert lines[-1] == "branch-urgent: failed (ran, resolved, behaves)"


@pytest.mark.engine
def test_the_manual_shows_what_is_printed(
    wirewright: Wirewright, warm_engine: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = MANUAL.read_text(encoding="utf-8").partition("## Checking a flow\n")[2].partition("\n## ")[0]
    flow, console = re.findall(r"^```(?:text|console)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    command, output = console.removeprefix("$ wirewright ").split("\n", 1)
    monkeypatch.chdir(tmp_path)
    Path("triage.flow").write_text(flow, encoding="utf-8")
    done = wirewright(*shlex.split(command))
    assert (done.code, done.out) == (1, output)


@pytest.mark.engine
def test_edits_services_and_earlier_messages_are_scored_too(
    wirewright: Wirewright, warm_engine: None, tmp_path: Path
) -> None:
    for name in ("service-fetch", "edit-template"):
        scenario = scenario_named(name)
        assert wirewright("eval", "check", name, written(tmp_path, scenario.reference)).code == 0, name
        wrong = next(wrong.flow for wrong in scenario.wrong if wrong.flow is not None)
        assert wirewright("eval", "check", name, written(tmp_path, wrong)).code == 1, name


@pytest.mark.engine
def test_sticky_notes_stay_beside_spec_text_and_are_missed_in_an_export_without_them(
    wirewright: Wirewright, warm_engine: None, tmp_path: Path
) -> None:
    scenario, export = scenario_named("note-harmless-twin"), tmp_path / "given.json"
    spec = written(tmp_path, scenario.reference)
    assert wirewright("eval", "check", scenario.id, spec).code == 0
    assert wirewright("flow", "build", spec, "--out", export).code == 0
    done = wirewright("eval", "check", scenario.id, export, "--json")
    scores = {score["name"]: score for score in done.json["verdict"]["scores"]}
    assert (done.code, scores["preserved"]["value"]) == (1, False)


@pytest.mark.engine
def test_components_of_the_scenario_and_of_a_folder_are_known(
    wirewright: Wirewright, warm_engine: None, tmp_path: Path
) -> None:
    own = scenario_named("own-build")
    assert wirewright("eval", "check", own.id, written(tmp_path, own.reference)).code == 0
    folder = tmp_path / "components"
    folder.mkdir()
    (folder / "echoes.py").write_text(ECHOES, encoding="utf-8")
    given = written(tmp_path, WORD_COUNT)
    unknown = wirewright("eval", "check", "echo", given, "--json")
    assert (unknown.code, unknown.json["ok"], unknown.json["verdict"]) == (1, False, None)
    assert next(fault["code"] for fault in unknown.json["faults"]) == "unknown_type"
    done = wirewright("eval", "check", "echo", given, "--components", folder, "--json")
    scores = {score["name"]: score for score in done.json["verdict"]["scores"]}
    assert (scores["ran"]["value"], scores["behaves"]["value"], done.json["differences"]) == (True, True, [])


def test_an_unknown_scenario_suggests_near_ones(wirewright: Wirewright, tmp_path: Path) -> None:
    done = wirewright("eval", "check", "branch-urgnt", written(tmp_path, ECHO), "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "unknown_scenario")
    assert "'branch-urgent'" in done.json["error"]["fix"]


def test_a_scenario_that_asks_for_no_flow_is_refused(wirewright: Wirewright, tmp_path: Path) -> None:
    done = wirewright("eval", "check", "question-count", written(tmp_path, ECHO), "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "no_flow_asked")


def test_a_file_that_is_no_flow_is_refused_before_the_engine_starts(
    wirewright: Wirewright, excerpt: Path, tmp_path: Path
) -> None:
    done = wirewright("eval", "check", "echo", written(tmp_path, json.dumps({"data": {"nodes": [3]}})), "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "invalid_flow")
    done = wirewright("eval", "check", "echo", tmp_path / "none.flow", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "unreadable")
    done = wirewright("eval", "check", "echo", "-", "--components", tmp_path / "none", "--json", stdin=b"name: x")
    assert (done.code, done.json["error"]["code"]) == (2, "unreadable")
