"""What is measured: names that say one thing, and a script that knows every turn."""

from typing import Any

import pytest

from benchmarks.against.command import NAMES, parser
from benchmarks.against.suites import SUITES
from benchmarks.against.suites.imports import EVERY
from benchmarks.script import BUILD, BUILT, OFF_TOPIC, QUESTION, any_turn
from wirewright import __all__ as face


def body(text: str, *, tools: bool = False, results: int = 0) -> dict[str, Any]:
    messages = [{"role": "system", "content": OFF_TOPIC}, {"role": "user", "content": f"<message>{text}</message>"}]
    return {"messages": messages + [{"role": "tool", "content": "{}"}] * results, "tools": [{}] if tools else []}


def test_every_metric_has_a_unique_name_and_rounds_for_each_generation() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(metric.rounds >= suite.generations for suite in SUITES for metric in suite.metrics)


def test_the_import_that_is_measured_is_the_whole_face() -> None:
    assert set(EVERY) <= set(face)


def test_the_command_takes_only_metrics_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    asked = parser().parse_args(["--against", "HEAD", "--only", "search", "scan", "--rounds", "3"])
    assert (asked.against, asked.only, asked.rounds) == ("HEAD", ["search", "scan"], 3)
    for wrong in (["--only", "nothing"], ["--rounds", "0"]):
        with pytest.raises(SystemExit) as exit_:
            parser().parse_args(["--against", "HEAD", *wrong])
        assert exit_.value.code == 2
    assert "must be 1 or more" in capsys.readouterr().err


def test_the_scripted_model_knows_each_turn_by_what_the_user_wrote() -> None:
    assert '"off_topic"' in any_turn(body(OFF_TOPIC)).text
    assert '"question"' in any_turn(body(QUESTION)).text
    assert any_turn(body(QUESTION, tools=True)).text.startswith("It fills")
    assert '"build_flow"' in any_turn(body(BUILD)).text
    assert any_turn(body(BUILD, tools=True)).calls[0][0] == "build_flow"
    assert any_turn(body(BUILD, tools=True, results=1)) == BUILT
