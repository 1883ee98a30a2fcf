"""The oracle: how it tries a new flow, and what it leaves out when it may make a few calls only."""

import pytest

from evals.oracles.tool_calls import calls
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.oracle.player import OraclePlayer
from evals.score import score_attempt
from flows.catalogue import Catalogue
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


@pytest.mark.anyio
async def test_an_oracle_of_few_calls_makes_the_first_ones_and_says_of_itself_how_many(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    scenario = scenario_named("edit-insert-between")
    whole = calls(await play_attempt(scenario, OraclePlayer(), environment)) or []
    player = OraclePlayer(calls=2)
    attempt = await play_attempt(scenario, player, environment)
    made = calls(attempt) or []
    assert [call.tool for call in made] == [call.tool for call in whole[:2]] != [call.tool for call in whole]
    assert (player.name, attempt.player, attempt.harness_error) == ("oracle-2", "oracle-2", None)
    assert score_attempt(scenario, attempt, catalogue).passed is False
