"""Evaluators of one's own: `--evaluator`, `--require` and installed ones."""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.journal import read_journal
from tests.cli.conftest import Wirewright
from tests.cli.eval.test_run import runner
from tests.shared.stand_ins import StandInRunner, ran

__all__ = ["runner"]

MANUAL = Path(__file__).parents[3] / "docs" / "evaluations.md"
SCORES = """
def long_answer(case):
    return len(case.answers[-1]) > 3, f"{len(case.answers)} answers"

def half(case):
    return 0.5

def nothing(case):
    return None

def breaks(case):
    return case.after.nodes[99]

def odd(case):
    return "very good"

half_of_it = half
passed = half
number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a module of evaluators and one that cannot be imported."""
    (tmp_path / "own_scores.py").write_text(SCORES, encoding="utf-8")
    (tmp_path / "broken_scores.py").write_text("import no_such_module_at_all\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in ("own_scores", "broken_scores", "my_scores"):
        sys.modules.pop(name, None)


RUN = ("eval", "run", "--scenario", "echo-wired")


def evaluators(*names: str) -> list[str]:
    """The options that name evaluators of the module."""
    return [word for name in names for word in ("--evaluator", f"own_scores:{name}")]


def test_their_columns_are_shown_and_decide_nothing(
    wirewright: Wirewright, runner: StandInRunner, folder: Path
) -> None:
    runner.results = [ran("one"), ran("one"), ran("two words")]
    plain = wirewright(*RUN, "--json").json["attempts"][0]
    runner.results = [ran("one"), ran("one"), ran("two words")]
    done = wirewright(*RUN, *evaluators("long_answer", "half", "nothing"), "--out", "attempts.jsonl", "--json")
    (attempt,) = done.json["attempts"]
    assert attempt["passed"] == plain["passed"]
    assert attempt["scores"][:-3] == plain["scores"]
    assert attempt["scores"][-3:] == [
        {"name": "long_answer", "value": True, "reason": "1 answers"},
        {"name": "half", "value": 0.5, "reason": ""},
        {"name": "nothing", "value": None, "reason": ""},
    ]
    assert (done.json["rates"]["half"], done.json["rates"]["nothing"]) == (0.5, None)
    [recorded] = read_journal(folder / "attempts.jsonl")
    assert [score.name for score in recorded.user_scores] == ["long_answer", "half", "nothing"]
    again = wirewright("eval", "score", "attempts.jsonl", "--out", "scores.jsonl")
    assert "half 50%" in " ".join(again.out.split())
    assert json.loads(Path("scores.jsonl").read_text())["scores"][-2]["value"] == 0.5
    assert wirewright("eval", "report", "attempts.jsonl", "--out", "report.csv").code == 0
    header, row = Path("report.csv").read_text(encoding="utf-8").splitlines()
    assert row.split(",")[header.split(",").index("half")].startswith("0.5")


def test_a_required_one_decides(wirewright: Wirewright, runner: StandInRunner, folder: Path) -> None:
    answers = [ran("one"), ran("one"), ran("two words")]
    outcomes: list[tuple[bool, dict[str, float]]] = []
    for require in (("half",), ("half=0.5",), ("half=0.6",), ("long_answer",), ("nothing",)):
        runner.results = [*answers]
        done = wirewright(*RUN, *evaluators("half", "long_answer", "nothing"), "--require", *require, "--json")
        (attempt,) = done.json["attempts"]
        outcomes.append((attempt["passed"], attempt["required"]))
    assert outcomes == [
        (False, {"half": 1.0}),
        (True, {"half": 0.5}),
        (False, {"half": 0.6}),
        (True, {"long_answer": 1.0}),
        (True, {"nothing": 1.0}),
    ]


def test_an_error_in_one_is_named_and_not_the_agents(
    wirewright: Wirewright, runner: StandInRunner, folder: Path
) -> None:
    runner.results = [ran("one"), ran("one"), ran("two words")]
    done = wirewright(*RUN, *evaluators("breaks", "odd"), "--out", "attempts.jsonl")
    assert done.code == 0
    shown = " ".join(done.out.split())
    assert "echo-wired: breaks is not scored: the evaluator failed: IndexError" in shown
    assert "odd is not scored: the evaluator failed: TypeError: it gave 'very good'" in shown
    assert "passed 1 of 1" in shown
    required = wirewright("eval", "score", "attempts.jsonl", *evaluators("breaks"), "--require", "breaks", "--json")
    (attempt,) = required.json["attempts"]
    assert (required.code, attempt["passed"], required.json["harness_errors"]) == (1, None, 1)
    assert attempt["harness_error"].startswith("breaks: the evaluator failed: IndexError")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--evaluator", "broken_scores:x"], "No module named 'no_such_module_at_all'"),
        (["--evaluator", "nowhere_at_all:x"], "No module named 'nowhere_at_all'"),
        (["--evaluator", "own_scores:none"], "has no function 'none'"),
        (["--evaluator", "own_scores:number"], "cannot be called"),
        (["--evaluator", "own_scores:passed"], "a score 'passed' already"),
        (["--evaluator", "not_installed"], "No evaluator 'not_installed' is installed"),
        ([*evaluators("half", "half")], "Two evaluators are called 'half'"),
        ([*evaluators("half"), "--require", "hal"], "No evaluator 'hal' is used"),
        ([*evaluators("half"), "--require", "half=much"], "does not name a score"),
    ],
)
def test_one_that_cannot_be_used_is_named_in_a_line(
    wirewright: Wirewright, runner: StandInRunner, folder: Path, arguments: list[str], message: str
) -> None:
    done = wirewright(*RUN, *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "bad_evaluator")
    assert message in done.json["error"]["message"]
    assert done.json["error"]["fix"]
    assert "\n" not in done.json["error"]["message"]


def test_an_installed_one_is_used_by_its_name(
    wirewright: Wirewright, runner: StandInRunner, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = folder / "team_scores-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: team-scores\nVersion: 1.0\n", encoding="utf-8")
    (package / "entry_points.txt").write_text(
        "[wirewright.evaluators]\nteam_score = own_scores:half\n", encoding="utf-8"
    )
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    done = wirewright(*RUN, "--evaluator", "team_score", "--json")
    assert done.json["attempts"][0]["scores"][-1] == {"name": "team_score", "value": 0.5, "reason": ""}
    unknown = wirewright(*RUN, "--evaluator", "team_scores", "--json")
    assert "'team_score'" in unknown.json["error"]["fix"]


@pytest.mark.engine
def test_the_evaluator_of_the_manual_scores(wirewright: Wirewright, warm_engine: None, folder: Path) -> None:
    section = MANUAL.read_text(encoding="utf-8").partition("## Evaluators of your own\n")[2].partition("\n## ")[0]
    blocks = dict(re.findall(r"^```(python|sh)\n(.*?)^```", section, re.MULTILINE | re.DOTALL))
    Path("my_scores.py").write_text(blocks["python"], encoding="utf-8")
    for line in blocks["sh"].splitlines():
        done = wirewright(*shlex.split(line)[1:], "--json")
        assert done.code == 0, line
        assert done.json["attempts"][0]["scores"][-1] == {"name": "short", "value": 1.0, "reason": "2 components"}


def test_the_digest_of_an_evaluator_is_in_the_journal_and_another_one_is_said_when_the_play_is_resumed(
    wirewright: Wirewright, runner: StandInRunner, folder: Path
) -> None:
    resume = (*evaluators("half", "nothing"), "--out", "attempts.jsonl", "--resume")
    assert "own evaluators" not in wirewright(*RUN, *resume).err
    [first] = read_journal(folder / "attempts.jsonl")
    assert first.origin is not None
    assert list(first.origin.evaluators) == ["half", "nothing"]
    assert all(re.fullmatch(r"own_scores:\w+ [0-9a-f]{12}", one) for one in first.origin.evaluators.values())
    assert "own evaluators" not in wirewright(*RUN, *resume).err, "nothing has changed"
    (folder / "own_scores.py").write_text(SCORES.replace("return 0.5", "return 0.75"), encoding="utf-8")
    sys.modules.pop("own_scores")
    said = wirewright(*RUN, "--scenario", "echo", *resume)
    assert "attempts.jsonl has scores of other versions of own evaluators: half, nothing." in said.err
    kept, added = read_journal(folder / "attempts.jsonl")
    assert kept.origin is not None
    assert added.origin is not None
    assert kept.origin.evaluators != added.origin.evaluators
