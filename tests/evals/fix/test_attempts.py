"""The smallest fix of an attempt, its probes really run."""

import pytest

from evals.fix.attempts import fix_of
from evals.play.attempts import attempted
from evals.play.probes import left
from evals.players import Stage
from evals.players.oracle import OraclePlayer
from flows.actions import Configure, Connect
from flows.edits import configure, disconnect
from tests.evals.conftest import scenario_named

pytestmark = [pytest.mark.anyio, pytest.mark.engine]


async def test_the_one_change_that_a_failed_flow_needs_is_found(engine_stage: Stage) -> None:
    scenario = scenario_named("prompt-louder")
    attempt = await attempted(scenario, OraclePlayer(), engine_stage)
    flow = attempt.flow
    assert flow is not None
    prompt = next(node.id for node in flow.nodes if node.type == "Prompt Template")
    chat = next(node.id for node in flow.nodes if node.type == "ChatInput")
    broken = configure(flow, engine_stage.catalogue, prompt, {"template": "Softly: {text}"}).flow
    fix = await fix_of(scenario, left(attempt, broken), engine_stage)
    assert fix is not None
    assert [type(action) for action in fix.actions] == [Configure]
    assert fix.proven
    loose = disconnect(flow, chat, None, prompt, None).flow
    fix = await fix_of(scenario, left(attempt, loose), engine_stage)
    assert fix is not None
    assert [type(action) for action in fix.actions] == [Connect]


async def test_a_flow_that_is_right_needs_no_fix(engine_stage: Stage) -> None:
    for name in ("prompt-louder", "service-fetch"):
        scenario = scenario_named(name)
        attempt = await attempted(scenario, OraclePlayer(), engine_stage)
        assert await fix_of(scenario, attempt, engine_stage) is None


@pytest.mark.parametrize(("name", "wrong"), [("debug-condition", 1), ("debug-lost-input", 0)])
async def test_a_canvas_that_was_left_as_it_was_is_held_to_the_run_that_was_asked_for(
    engine_stage: Stage, name: str, wrong: int
) -> None:
    scenario = scenario_named(name)
    attempt = await attempted(scenario, OraclePlayer(wrong=wrong), engine_stage)
    fix = await fix_of(scenario, attempt, engine_stage)
    assert fix is not None
    assert fix.proven
    assert fix.actions
    assert await fix_of(scenario, left(attempt, fix.flow), engine_stage) is None
