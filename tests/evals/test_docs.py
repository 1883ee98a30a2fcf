"""The manual does what it says: its scenario is played, its gate is a gate, its tables are whole."""

import re
from pathlib import Path

import pytest
import yaml

from evals.gate import Gate
from evals.loading import load_scenario
from evals.play import attempted
from evals.players import Stage
from evals.players.oracle import OraclePlayer
from evals.score import EVALUATORS, judge

MANUAL = (Path(__file__).parent.parent.parent / "docs" / "evaluations.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", MANUAL, re.MULTILINE | re.DOTALL)


@pytest.mark.engine
@pytest.mark.anyio
async def test_the_scenario_of_the_manual_is_played(engine_stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "shout-back.yaml"
    path.write_text(BLOCKS[0], encoding="utf-8")
    scenario = load_scenario(path)
    for player in (OraclePlayer(), OraclePlayer(alternative=0)):
        verdict = judge(scenario, await attempted(scenario, player, engine_stage), engine_stage.catalogue)
        assert verdict.passed is True
        assert [entry for entry in verdict.scores if entry.value is not None and float(entry.value) < 1] == []
    for number in range(len(scenario.wrong)):
        attempt = await attempted(scenario, OraclePlayer(wrong=number), engine_stage)
        assert judge(scenario, attempt, engine_stage.catalogue).passed is False


def test_the_gate_of_the_manual_is_a_gate() -> None:
    assert Gate.model_validate(yaml.safe_load(BLOCKS[1])).floors["honest"] == 1.0


def test_every_score_stands_in_the_manual() -> None:
    named = set(re.findall(r"`(\w+)`", MANUAL))
    assert EVALUATORS.keys() <= named
