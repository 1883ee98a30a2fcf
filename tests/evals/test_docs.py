"""The manual does what it says: its scenario is played, its gate is a gate, its tables are whole."""

import asyncio
import importlib
import json
import re
import shlex
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import yaml

from agent.turn.request import TurnRequest
from evals.analysis.metrics import DECLARED
from evals.gate import Gate
from evals.journal import read_journal
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.answer import FunctionAnswer
from evals.players.function import FunctionPlayer
from evals.players.http import HttpPlayer
from evals.players.oracle.player import OraclePlayer
from evals.scenario import Turn
from evals.scenarios.loader import load_scenario
from evals.score import EVALUATORS, score_attempt
from runtime.web.server import Server
from tests.cli.conftest import Wirewright, wirewright
from tests.evals.conftest import scenario_named

__all__ = ["wirewright"]

ROOT = Path(__file__).parent.parent.parent
MANUAL = (ROOT / "docs" / "evaluations.md").read_text(encoding="utf-8")
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
    server = Server(uvicorn.Config(written(1)["app"], log_level="critical", log_config=None))
    scenario = scenario_named("question-count")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        attempt = await play_attempt(scenario, HttpPlayer(f"http://127.0.0.1:{port}"), environment)
        server.stop()
        await serving
    assert attempt.harness_error is None
    assert str(attempt.agent) == "my-agent 1.0"
    assert [turn.text for turn in attempt.turns] == [f"You asked: {scenario.turns[0].say}"]
    assert score_attempt(scenario, attempt, environment.catalogue).passed is False


def test_every_score_stands_in_the_manual() -> None:
    named = set(re.findall(r"`(\w+)`", MANUAL))
    assert EVALUATORS.keys() <= named


def shown(kind: str) -> list[str]:
    """The blocks of the way from nothing to a gate, of one language."""
    return re.findall(rf"^<!-- to-a-gate -->\n```{kind}\n(.*?)^```", MANUAL, re.MULTILINE | re.DOTALL)


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
def test_the_way_from_nothing_to_a_gate_in_ci_works(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_agent.py").write_text(CODE[0], encoding="utf-8")
    gate, _ = shown("yaml")
    (tmp_path / "gate.yaml").write_text(gate, encoding="utf-8")
    commands = [shlex.split(line)[1:] for block in shown("sh") for line in block.splitlines()]
    assert len(commands) == 5
    for command in commands:
        done = wirewright(*command)
        assert done.code == 0, (command, done.out, done.err)
    assert [str(attempt.agent) for attempt in read_journal(tmp_path / "new.jsonl")] == ["my-agent 1.0"]
    assert "passed **1 of 1**" in (tmp_path / "comment.md").read_text(encoding="utf-8")
    worse = CODE[0].replace('flow.to_json() if flow else None, "text"', 'None, "text"')
    (tmp_path / "my_agent.py").write_text(worse, encoding="utf-8")
    sys.modules.pop("my_agent")
    importlib.invalidate_caches()
    assert wirewright(*commands[3]).code == 1, "a change for the worse does not pass the gate"
    sys.modules.pop("my_agent")


def test_the_workflow_of_the_manual_passes_what_the_reusable_one_takes() -> None:
    _, block = shown("yaml")
    (job,) = yaml.safe_load(block)["jobs"].values()
    reusable = job["uses"].partition("wirewright/")[2].partition("@")[0]
    call = yaml.safe_load((ROOT / reusable).read_text(encoding="utf-8"))[True]["workflow_call"]
    assert set(job["with"]) <= set(call["inputs"])
    assert set(job["secrets"]) <= set(call["secrets"])


def test_every_field_of_a_request_and_every_key_of_an_answer_stands_in_the_manual() -> None:
    kit = MANUAL[MANUAL.index("## Evaluating any agent") : MANUAL.index("### From nothing to a gate")]
    named = set(re.findall(r"`(\w+)`", kit))
    assert set(TurnRequest.model_fields) - {"held_keys"} <= named
    assert set(FunctionAnswer.model_fields) <= named
