"""The committed baseline of the demo planner is what it does today, twice over, and stands in the README."""

from pathlib import Path

import pytest

from evals.analysis.comparison import compare
from evals.analysis.tally import bare, read_verdicts
from evals.gate import load_gate, passage
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.demo import DemoPlayer
from evals.scenarios.loader import load_scenarios
from evals.score import score_attempts
from scripts.baseline import BASELINE, MARKED, README, score_table

GATE = Path(BASELINE).parent.parent / "gates" / "demo.yaml"


@pytest.mark.engine
@pytest.mark.anyio
async def test_the_demo_does_what_its_baseline_says_and_two_plays_give_the_same_scores(
    engine_environment: PlayEnvironment,
) -> None:
    scenarios = load_scenarios()
    verdicts = score_attempts(
        scenarios, await play(scenarios, DemoPlayer(), engine_environment), engine_environment.catalogue
    )
    gate, baseline = load_gate(GATE)
    assert passage(gate, baseline, verdicts).reasons == ()
    difference = compare(baseline, verdicts)
    assert difference.same, f"{difference.model_dump_json(exclude={'rates'})}: python -m scripts.baseline"
    fast = [scenario for scenario in scenarios if "build" in scenario.tags][:10]
    again = score_attempts(fast, await play(fast, DemoPlayer(), engine_environment), engine_environment.catalogue)
    names = {scenario.id for scenario in fast}
    assert [bare(one) for one in again] == [bare(one) for one in verdicts if one.scenario in names]


def test_the_readme_shows_the_score_of_the_baseline() -> None:
    found = MARKED.search(README.read_text(encoding="utf-8"))
    assert found is not None
    assert score_table(list(read_verdicts(BASELINE))) in found.group(0)
