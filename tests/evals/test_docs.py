"""The manual does what it says: its scenario is played, its gate is a gate, its tables are whole."""

import asyncio
import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import yaml

from evals.analysis.metrics import DECLARED
from evals.gate import Gate
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.function import FunctionPlayer
from evals.players.http import HttpPlayer
from evals.players.oracle.player import OraclePlayer
from evals.scenario import Turn
from evals.scenarios.loader import load_scenario
from evals.score import EVALUATORS, score_attempt
from tests.evals.conftest import scenario_named

MANUAL = (Path(__file__).parent.parent.parent / "docs" / "evaluations.md").read_text(encoding="utf-8")
CODE = re.findall(r"^```python\n(.*?)^```", MANUAL, re.MULTILINE | re.DOTALL)
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", MANUAL, re.MULTILINE | re.DOTALL)


@pytest.mark.engine
@pytest.mark.anyio
async def test_the_scenario_of_the_manual_is_played(engine_environment: PlayEnvironment, tmp_path: Path) -> None:
    path = tmp_path / "shout-back.yaml"
    path.write_text(BLOCKS[0], encoding="utf-8")
    scenario = load_scenario(path)
    for player in (OraclePlayer(), OraclePlayer(alternative=0)):
        verdict = score_attempt(
            scenario, await play_attempt(scenario, player, engine_environment), engine_environment.catalogue
        )
        assert verdict.passed is True
        assert [entry for entry in verdict.scores if entry.value is not None and float(entry.value) < 1] == []
    for number in range(len(scenario.wrong)):
        attempt = await play_attempt(scenario, OraclePlayer(wrong=number), engine_environment)
        assert score_attempt(scenario, attempt, engine_environment.catalogue).passed is False


def test_the_facts_of_the_manual_are_facts() -> None:
    [turn] = [Turn.model_validate_json(json.dumps(each)) for each in yaml.safe_load(BLOCKS[1])]
    assert turn.fact_fault("Two templates, and the word is 'moving'. There is no Slack node.") == ""
    assert turn.fact_fault("Two templates, and the word is 'broken' or 'moving'. There is no Slack node.") != ""


def test_the_gate_of_the_manual_is_a_gate() -> None:
    assert Gate.model_validate(yaml.safe_load(BLOCKS[2])).floors["honest"] == 1.0


def test_the_statistical_gate_of_the_manual_is_a_gate() -> None:
    gate = Gate.model_validate(yaml.safe_load(BLOCKS[3]))
    assert (gate.mode, gate.metrics, gate.sees) == ("statistical", DECLARED, 0.1)


def written(block: int) -> dict[str, Any]:
    """What a block of the manual's code defines."""
    names: dict[str, Any] = {}
    exec(compile(CODE[block], "docs/evaluations.md", "exec"), names)  # noqa: S102  (our own manual)
    return names


@pytest.mark.engine
@pytest.mark.anyio
async def test_the_function_of_the_manual_is_scored(engine_environment: PlayEnvironment) -> None:
    player = FunctionPlayer(written(0)["echo"], "python:my_agent:echo")
    scenario = scenario_named("echo-wired")
    verdict = score_attempt(
        scenario, await play_attempt(scenario, player, engine_environment), engine_environment.catalogue
    )
    assert (verdict.passed, verdict.value("nodes"), verdict.value("wasted")) == (True, 1.0, None)


@pytest.mark.anyio
async def test_the_server_of_the_manual_is_scored(environment: PlayEnvironment) -> None:
    server = uvicorn.Server(uvicorn.Config(written(1)["app"], log_level="critical"))
    scenario = scenario_named("question-count")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        attempt = await play_attempt(scenario, HttpPlayer(f"http://127.0.0.1:{port}"), environment)
        server.should_exit = True
        await serving
    assert attempt.harness_error is None
    assert [turn.text for turn in attempt.turns] == [f"You asked: {scenario.turns[0].say}"]
    assert score_attempt(scenario, attempt, environment.catalogue).passed is False


def test_every_score_stands_in_the_manual() -> None:
    named = set(re.findall(r"`(\w+)`", MANUAL))
    assert EVALUATORS.keys() <= named
