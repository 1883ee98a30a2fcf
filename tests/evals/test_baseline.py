"""The committed baseline of the demo planner is what it does today, twice over, and stands in the README."""

from pathlib import Path

import pytest

from evals.analysis.comparison import compare
from evals.analysis.tally import bare, read_verdicts
from evals.gate import Gate, check_gate, load_gate
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.demo import DemoPlayer
from evals.scenario import Scenario
from evals.score import Verdict, score_attempt
from scripts.baseline import BASELINE, README, score_table
from scripts.checkout import marked
from tests.evals.conftest import scenarios
from tests.evals.run_cache import with_cached_runs

GATE = Path(BASELINE).parent.parent / "gates" / "demo.yaml"
SCENARIOS = scenarios()
TWICE = {scenario.id for scenario in [one for one in SCENARIOS if "build" in one.tags][:10]}
"""Scenarios that are played a second time, on the engine."""


@pytest.fixture(scope="module")
def gate() -> tuple[Gate, tuple[Verdict, ...]]:
    """The gate and its baseline, read once."""
    return load_gate(GATE)


def test_the_baseline_passes_its_gate_and_covers_every_scenario(gate: tuple[Gate, tuple[Verdict, ...]]) -> None:
    rules, baseline = gate
    assert check_gate(rules, baseline, baseline).reasons == ()
    assert {one.scenario: one.digest for one in baseline} == {one.id: one.digest for one in SCENARIOS}


@pytest.mark.table
@pytest.mark.engine
@pytest.mark.anyio
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
async def test_the_demo_does_what_its_baseline_says_and_two_plays_give_the_same_scores(
    scenario: Scenario, engine_environment: PlayEnvironment, gate: tuple[Gate, tuple[Verdict, ...]]
) -> None:
    async def verdict_in(environment: PlayEnvironment) -> Verdict:
        return score_attempt(scenario, await play_attempt(scenario, DemoPlayer(), environment), environment.catalogue)

    verdict = await verdict_in(with_cached_runs(engine_environment, scenario))
    rules, whole = gate
    baseline = [one for one in whole if one.scenario == scenario.id]
    assert rules.mode == "exact"
    difference = compare(baseline, [verdict])
    assert difference.same, f"{difference.model_dump_json(exclude={'rates'})}: python -m scripts.baseline"
    if scenario.id in TWICE:
        again = bare(await verdict_in(engine_environment))
        assert again.model_dump_json() == bare(verdict).model_dump_json(), "equal to the byte"


def test_the_readme_shows_the_score_of_the_baseline() -> None:
    found = marked("demo-score").search(README.read_text(encoding="utf-8"))
    assert found is not None
    assert score_table(list(read_verdicts(BASELINE))) in found.group(0)
