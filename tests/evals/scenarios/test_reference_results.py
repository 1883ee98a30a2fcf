"""Every scenario holds: what is right scores perfectly on the real engine, what is wrong fails."""

import asyncio
from dataclasses import replace

import pytest

from evals.analysis.tally import tally
from evals.play.attempts import play, play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.boaster import BoasterPlayer
from evals.players.null import NullPlayer
from evals.players.oracle.player import OraclePlayer
from evals.players.player import Player
from evals.scenario import Scenario
from evals.score import Verdict, score_attempt, score_attempts
from flows.catalogue import Catalogue
from tests.evals.conftest import scenarios
from tests.evals.run_cache import with_cached_runs

SCENARIOS = scenarios()
ALWAYS_RUN = {scenario.id for scenario in SCENARIOS[::30]}
"""Scenarios whose references are never taken from recorded runs."""


@pytest.mark.table
@pytest.mark.engine
@pytest.mark.anyio
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
async def test_references_and_alternatives_are_perfect_and_wrong_results_fail(
    scenario: Scenario, engine_environment: PlayEnvironment
) -> None:
    catalogue = engine_environment.catalogue
    cached = with_cached_runs(engine_environment, scenario)
    checked = with_cached_runs(engine_environment, scenario, same_sources=True)
    live = engine_environment if scenario.id in ALWAYS_RUN else checked

    async def verdict_of(player: Player, environment: PlayEnvironment) -> Verdict:
        return score_attempt(scenario, await play_attempt(scenario, player, environment), catalogue)

    async def fault_of_right(what: str, player: Player, environment: PlayEnvironment) -> str:
        verdict = await verdict_of(player, environment)
        short = [entry for entry in verdict.scores if entry.value is not None and float(entry.value) < 1.0]
        reasons = "; ".join(f"{entry.name}: {entry.reason}" for entry in short)
        right = verdict.passed is True or (verdict.passed is None and verdict.undecided)  # only words are left to judge
        return "" if right and not short else f"{what}: {verdict.harness_error or reasons}"

    async def fault_of_wrong(what: str, player: Player) -> str:
        verdict = await verdict_of(player, cached)
        return "" if verdict.passed is False else f"{what} did not fail: {verdict.harness_error}"

    faults = await asyncio.gather(
        fault_of_right("the reference", OraclePlayer(), live),
        *(
            fault_of_right(f"alternative {n + 1}", OraclePlayer(alternative=n), cached)
            for n in range(len(scenario.alternatives))
        ),
        *(fault_of_wrong(f"wrong {n + 1}", OraclePlayer(wrong=n)) for n in range(len(scenario.wrong))),
    )
    assert [fault for fault in faults if fault] == []


@pytest.mark.anyio
@pytest.mark.parametrize("player", [NullPlayer(), BoasterPlayer()], ids=["null", "boaster"])
async def test_doing_nothing_earns_nothing_that_matters(
    player: Player, environment: PlayEnvironment, full_catalogue: Catalogue
) -> None:
    everything = replace(environment, catalogue=full_catalogue)
    playable = [scenario for scenario in SCENARIOS if not scenario.services and not scenario.components]
    verdicts = score_attempts(playable, await play(playable, player, everything), full_catalogue)
    result = tally(verdicts)
    assert [verdict.harness_error for verdict in verdicts if verdict.harness_error] == []
    assert result.pass_rate == 0.0
    for name in ("built", "resolved", "nodes", "edges", "parameters", "values", "edit_recall", "clarified"):
        assert result.rates[name] == 0.0, name
    assert result.rates["honest"] == (None if player.name == "null" else 0.0)
