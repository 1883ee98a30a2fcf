"""The oracle tries a new flow with an input of the form that its scenario's inputs have."""

import pytest

from evals.oracles.tool_calls import calls
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.oracle.player import OraclePlayer
from tests.evals.conftest import scenario_named


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "probes"),
    [
        ("chinese-refund", {"我要退款": ""}),
        ("echo-wired", None),
    ],
)
async def test_inputs_that_are_given_by_hand_are_tried_and_derived_ones_are_not(
    name: str, probes: dict[str, str] | None, environment: PlayEnvironment
) -> None:
    attempt = await play_attempt(scenario_named(name), OraclePlayer(), environment)
    built = [call for call in calls(attempt) or [] if call.tool == "build_flow"]
    assert [call.arguments.get("probes") for call in built] == [probes]
