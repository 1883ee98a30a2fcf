"""The committed baseline of the demo planner is what it does today, twice over; README and report show the same."""

import json
import re
from pathlib import Path

import pytest

from evals.analysis.comparison import compare
from evals.analysis.tally import bare, read_verdicts
from evals.gate import Gate, check_gate, load_gate
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.demo import DemoPlayer
from evals.scenario import Scenario
from evals.scenarios.coverage import KINDS, kind_of
from evals.score import Verdict, score_attempt
from scripts.baseline import BASELINE, PLAYERS, README, REPORT, REPORT_BYTES, SCRIPTED, score_table
from scripts.checkout import marked
from tests.evals.conftest import scenarios
from tests.evals.run_cache import with_cached_runs

GATE = Path(BASELINE).parent.parent / "gates" / "demo.yaml"
SCENARIOS = scenarios()
TWICE = {one.id for kind in KINDS for one in [each for each in SCENARIOS if kind_of(each) == kind][:2]}
"""Scenarios of every kind that are played a second time, on the engine."""


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


def test_the_baseline_of_the_scripted_model_covers_every_scenario() -> None:
    kept = list(read_verdicts(SCRIPTED))
    assert {one.scenario: one.digest for one in kept} == {one.id: one.digest for one in SCENARIOS}
    assert [one.scenario for one in kept if one.harness_error] == []


@pytest.mark.engine
@pytest.mark.anyio
@pytest.mark.parametrize("scenario", SCENARIOS[::31], ids=lambda scenario: scenario.id)
async def test_the_scripted_model_does_what_its_baseline_says(
    scenario: Scenario, engine_environment: PlayEnvironment
) -> None:
    environment = with_cached_runs(engine_environment, scenario)
    attempt = await play_attempt(scenario, PLAYERS["scripted"], environment)
    verdict = bare(score_attempt(scenario, attempt, environment.catalogue))
    (kept,) = [one for one in read_verdicts(SCRIPTED) if one.scenario == scenario.id]
    assert compare([kept], [verdict]).same, "python -m scripts.baseline scripted"


def test_the_readme_shows_the_score_of_the_baseline() -> None:
    found = marked("demo-score").search(README.read_text(encoding="utf-8"))
    assert found is not None
    assert score_table(list(read_verdicts(BASELINE))) in found.group(0)


def test_the_report_shows_every_scenario_of_the_baseline_with_its_verdict_and_scores() -> None:
    page = REPORT.read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    shown = {one["scenario"]: (one["digest"], one["passed"], one["scores"]) for one in json.loads(data[1])["attempts"]}
    kept = {
        one.scenario: (one.digest, one.passed, {score.name: score.value for score in one.scores})
        for one in read_verdicts(BASELINE)
    }
    stale = sorted(name for name in shown.keys() | kept.keys() if shown.get(name) != kept.get(name))
    assert stale == [], "python -m scripts.baseline"


def test_the_report_is_small_enough_to_keep() -> None:
    assert REPORT.stat().st_size <= REPORT_BYTES
