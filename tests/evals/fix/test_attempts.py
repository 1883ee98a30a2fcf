"""The smallest fix of an attempt, its probes really run."""

import pytest

from evals.fix.attempts import fix_of
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.play.probes import replace_final_flow
from evals.players.oracle.player import OraclePlayer
from flows.actions import Configure, Connect
from flows.edits import configure, disconnect
from tests.evals.conftest import scenario_named

pytestmark = [pytest.mark.anyio, pytest.mark.engine]


async def test_the_one_change_that_a_failed_flow_needs_is_found(engine_environment: PlayEnvironment) -> None:
    scenario = scenario_named("prompt-louder")
    attempt = await play_attempt(scenario, OraclePlayer(), engine_environment)
    flow = attempt.flow
    assert flow is not None
    prompt = next(node.id for node in flow.nodes if node.type == "Prompt Template")
    chat = next(node.id for node in flow.nodes if node.type == "ChatInput")
    broken = configure(flow, engine_environment.catalogue, prompt, {"template": "Softly: {text}"}).flow
    fix = await fix_of(scenario, replace_final_flow(attempt, broken), engine_environment)
    assert fix is not None
    assert [type(action) for action in fix.actions] == [Configure]
    assert fix.proven
    loose = disconnect(flow, chat, None, prompt, None).flow
    fix = await fix_of(scenario, replace_final_flow(attempt, loose), engine_environment)
    assert fix is not None
    assert [type(action) for action in fix.actions] == [Connect]


async def test_a_flow_that_is_right_needs_no_fix(engine_environment: PlayEnvironment) -> None:
    for name in ("prompt-louder", "service-fetch"):
        scenario = scenario_named(name)
        attempt = await play_attempt(scenario, OraclePlayer(), engine_environment)
        assert await fix_of(scenario, attempt, engine_environment) is None


@pytest.mark.parametrize(("name", "wrong"), [("debug-condition", 1), ("debug-lost-input", 0)])
async def test_a_canvas_that_was_left_as_it_was_is_held_to_the_run_that_was_asked_for(
    engine_environment: PlayEnvironment, name: str, wrong: int
) -> None:
    scenario = scenario_named(name)
    attempt = await play_attempt(scenario, OraclePlayer(wrong=wrong), engine_environment)
    fix = await fix_of(scenario, attempt, engine_environment)
    assert fix is not None
    assert fix.proven
    assert fix.actions
    assert await fix_of(scenario, replace_final_flow(attempt, fix.flow), engine_environment) is None
