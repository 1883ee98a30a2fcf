"""Flows checked against scenarios: right ones pass, wrong ones do not, and each says where it differs."""

import json

import pytest

from evals.behaviours.outcomes import agree
from evals.play.environment import PlayEnvironment
from evals.play.flow_check import FLOW_SCORES, asks_for_flow, check_flow
from evals.scenario import Scenario
from evals.score import DECIDING, EVALUATORS
from flows.document import Flow
from tests.evals.conftest import scenario_named, scenarios
from tests.evals.run_cache import with_cached_runs

pytestmark = pytest.mark.anyio

SAMPLE = [one for one in scenarios() if one.reference is not None and not one.components][::15]
"""Scenarios whose flows are run in tests."""


@pytest.mark.engine
@pytest.mark.parametrize("scenario", SAMPLE, ids=lambda scenario: scenario.id)
async def test_right_flows_pass_and_wrong_ones_fail(scenario: Scenario, engine_environment: PlayEnvironment) -> None:
    cached = with_cached_runs(engine_environment, scenario)
    checking = with_cached_runs(engine_environment, scenario, same_sources=True)
    for name, text in scenario.right:
        checked = await check_flow(scenario, text, checking)
        assert (checked.ok, checked.verdict.why, checked.differences) == (True, "", ()), name
    for wrong in scenario.wrong:
        if wrong.flow is not None and not wrong.files:
            checked = await check_flow(scenario, wrong.flow, cached)
            assert checked.verdict.passed is False, wrong.because


@pytest.mark.engine
async def test_no_more_differences_are_shown_than_asked_for(engine_environment: PlayEnvironment) -> None:
    scenario = scenario_named("branch-urgent")
    flow = scenario.wrong[0].flow or ""
    compared = 0
    for limit in (1, 2, 4):
        checked = await check_flow(scenario, flow, engine_environment, differences=limit)
        assert len(checked.differences) == limit
        assert checked.compared > compared
        compared = checked.compared
        assert scenario.inputs is not None
        assert not any(agree(scenario.inputs, one.given, one.wanted) for one in checked.differences)


@pytest.mark.engine
async def test_a_service_is_named_in_a_command_as_in_an_address(engine_environment: PlayEnvironment) -> None:
    scenario = scenario_named("service-wrong-path")
    checked = await check_flow(scenario, scenario.alternatives[0], engine_environment)  # it is in a curl command
    assert (checked.ok, checked.verdict.why) == (True, "")


async def test_what_a_flow_does_not_show_is_not_scored(environment: PlayEnvironment) -> None:
    checked = await check_flow(scenario_named("echo-wired"), json.dumps(Flow.empty().to_json()), environment)
    assert [score.name for score in checked.verdict.scores] == list(EVALUATORS)
    assert {score.name for score in checked.verdict.scores if score.value is not None} <= FLOW_SCORES
    assert (checked.ok, checked.compared, checked.verdict.value("built")) == (False, 0, False)
    assert {score.name for score in checked.verdict.failures} <= DECIDING & FLOW_SCORES


def test_scenarios_of_words_and_files_ask_for_no_flow() -> None:
    assert not asks_for_flow(scenario_named("question-count"))
    assert asks_for_flow(scenario_named("run-only"))
