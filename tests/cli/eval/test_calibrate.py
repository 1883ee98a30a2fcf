"""`wirewright eval calibrate`: a judge is measured on labelled answers, and decides statements by that."""

import asyncio
import json
from pathlib import Path

import pytest
import yaml

from agent.settings import AssistantSettings
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.oracle.player import OraclePlayer
from evals.scenarios.loader import load_scenarios
from flows.catalogue import Catalogue
from tests.cli.conftest import Wirewright
from tests.evals.calibration.test_calibration import good, rows, scripted
from tests.shared.stand_ins import StandInRunner

SCENARIO = """
id: hours
about: A question about the canvas.
turns:
- say: Does this flow call a model?
  should: answer
  answer: [{regex: '(?i)\\byes\\b|no'}]
  reply: yes, it does
  statements: [The answer says yes.]
"""


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue) -> None:
    """A scripted judge that reads, behind a key."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr("agent.models.connections.connect", lambda *_: scripted(good))
    monkeypatch.setattr("cli.engine.ready_catalogue", lambda: catalogue)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """A folder of labelled answers of the composition that a calibration needs."""
    folder = tmp_path / "answers"
    folder.mkdir()
    for language in {row.language for row in rows()}:
        mine = [row.model_dump() for row in rows() if row.language == language]
        (folder / f"{language}.yaml").write_text(yaml.safe_dump(mine), encoding="utf-8")
    return folder


def test_a_judge_is_measured_and_stored(wirewright: Wirewright, judging: None, answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "judge.json"
    arguments = ("eval", "calibrate", "openai:gpt-6-luna", "--answers", answers, "--out", out)
    done = wirewright(*arguments, "--json")
    assert (done.code, done.json["decides"], done.json["why_not"]) == (0, True, "")
    stored = done.json["calibration"]
    assert json.loads(out.read_text(encoding="utf-8")) == stored
    assert (stored["judge"], stored["count"], stored["agreement"]["kappa"]["value"]) == ("scripted", 420, 1.0)
    assert stored["agreement"]["accuracy"]["low"] > 0.98
    assert "is replaced" not in done.err
    assert f"{out} is replaced." in wirewright(*arguments).err


def test_what_was_measured_is_printed_with_its_intervals(wirewright: Wirewright, judging: None, answers: Path) -> None:
    for path in answers.glob("*.yaml"):
        if path.stem != "de":
            path.unlink()
    said = wirewright("eval", "calibrate", "openai:gpt-6-luna", "--answers", answers).out
    lines = said.splitlines()
    assert lines[0].split() == ["agreement", "100.0%", "(94.0%–100.0%)", "of", "60"]
    assert [line.split()[0] for line in lines[1:5]] == ["sensitivity", "specificity", "kappa", "de"]
    assert lines[-1] == ("scripted may not decide: the labelled answers are too few or too uneven to measure a judge")


@pytest.fixture
def played(catalogue: Catalogue, tmp_path: Path) -> tuple[Path, Path]:
    """A folder with one scenario that has a statement, and the journal of its oracle."""
    folder = tmp_path / "scenarios"
    folder.mkdir()
    (folder / "hours.yaml").write_text(SCENARIO, encoding="utf-8")
    stage = PlayEnvironment(settings=AssistantSettings(), catalogue=catalogue, runner=StandInRunner())
    attempts = asyncio.run(play(load_scenarios(folder), OraclePlayer(), stage))
    journal = tmp_path / "attempts.jsonl"
    journal.write_text("".join(f"{attempt.model_dump_json()}\n" for attempt in attempts), encoding="utf-8")
    return folder, journal


def test_a_measured_judge_decides_and_one_that_was_not_leaves_it_open(
    wirewright: Wirewright,
    judging: None,
    answers: Path,
    played: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    folder, journal = played
    stored, scores = tmp_path / "judge.json", tmp_path / "scores.jsonl"
    assert wirewright("eval", "calibrate", "openai:gpt-6-luna", "--answers", answers, "--out", stored).code == 0
    judge = ("eval", "--scenarios", folder, "judge", journal, "--model", "openai:gpt-6-luna", "--scores", scores)
    decided = wirewright(*judge, "--calibration", stored, "--answers", answers, "--json").json["decisions"]
    assert [(one["statement"], one["decision"]) for one in decided] == [("The answer says yes.", "passed")]
    assert [json.loads(line)["passed"] for line in scores.read_text(encoding="utf-8").splitlines()] == [True]
    assert "answers have changed" in wirewright(*judge, "--calibration", stored).out
    said = wirewright(*judge).out
    assert "hours  undecided: The answer says yes. (the judge was not measured)" in said
    assert [json.loads(line)["passed"] for line in scores.read_text(encoding="utf-8").splitlines()] == [None]


@pytest.mark.parametrize(
    ("arguments", "code", "where"),
    [
        (("demo",), "no_judge", "JUDGE"),
        (("nobody:x",), "unknown_provider", "JUDGE"),
        (("openai:x", "--answers", "/nowhere"), "bad_answers", "--answers"),
        (("openai:x", "--out", "/nowhere/x.json"), "unwritable", "--out"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    arguments: tuple[str, ...], code: str, where: str, wirewright: Wirewright, judging: None
) -> None:
    refused = wirewright("eval", "calibrate", *arguments, "--json")
    assert (refused.code, refused.json["error"]["code"], refused.json["error"]["where"]) == (2, code, where)
