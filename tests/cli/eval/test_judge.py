"""`wirewright eval judge`: opinions of a journal's attempts, which decide nothing."""

import asyncio
import json
from pathlib import Path

import pytest
from pydantic_ai.models.test import TestModel

from agent.models.connections import connect
from agent.settings import AssistantSettings
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.null import NullPlayer
from flows.catalogue import Catalogue
from tests.cli.conftest import Wirewright
from tests.evals.conftest import scenario_named
from tests.shared.stand_ins import StandInRunner


@pytest.fixture
def journal(catalogue: Catalogue, tmp_path: Path) -> Path:
    """A journal of two attempts."""
    stage = PlayEnvironment(settings=AssistantSettings(), catalogue=catalogue, runner=StandInRunner())
    scenarios = [scenario_named("echo"), scenario_named("question-count")]
    attempts = asyncio.run(play(scenarios, NullPlayer(), stage))
    path = tmp_path / "attempts.jsonl"
    path.write_text("".join(f"{attempt.model_dump_json()}\n" for attempt in attempts), encoding="utf-8")
    return path


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch, catalogue: object) -> None:
    """A judge that fills in the form, behind a key."""
    grading = {"reason": "It does not.", "pass": False, "score": 0.25}
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr("agent.models.connections.connect", lambda *_: TestModel(custom_output_args=grading))
    monkeypatch.setattr("cli.engine.ready_catalogue", lambda: catalogue)


def test_the_model_is_one_of_a_provider() -> None:
    assert connect("openai", "gpt-6-luna", {"OPENAI_API_KEY": "sk-test"}).model_name == "gpt-6-luna"


def test_opinions_are_printed_and_written(wirewright: Wirewright, journal: Path, judging: None, tmp_path: Path) -> None:
    out = tmp_path / "opinions.jsonl"
    arguments = ("eval", "judge", journal, "--model", "openai:gpt-6-luna", "--rubric", "goal", "--rubric", "clarity")
    done = wirewright(*arguments, "--out", out, "--json")
    assert (done.code, done.json["judge"]) == (0, "test")
    goal, clarity = done.json["rubrics"]
    assert (goal["rubric"], goal["judged"], goal["passed"], goal["mean"], goal["agreement"]) == (
        "goal",
        2,
        0,
        0.25,
        1.0,
    )
    assert (clarity["rubric"], clarity["failed"]) == ("clarity", 0)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert lines == done.json["opinions"]
    assert len(lines) == 4
    said = wirewright(*arguments[:5])
    assert "echo  goal: no 0.25  It does not." in said.out
    assert "rubric goal, judged 2, passed 0, mean 0.25, agreement 1.00, failed 0" in said.out


@pytest.mark.parametrize(
    ("arguments", "code", "where"),
    [
        (("--model", "demo"), "no_judge", "--model"),
        (("--model", "nobody:x"), "unknown_provider", "--model"),
        (("--model", "anthropic:claude-sonnet-4-6"), "provider_not_configured", "--model"),
        (("--model", "openai:x", "--rubric", "nonsense"), "bad_rubric", "--rubric"),
    ],
)
def test_an_unavailable_judge_or_rubric_is_refused(
    arguments: tuple[str, ...], code: str, where: str, wirewright: Wirewright, journal: Path, judging: None
) -> None:
    refused = wirewright("eval", "judge", journal, *arguments, "--json")
    assert (refused.code, refused.json["error"]["code"], refused.json["error"]["where"]) == (2, code, where)
