"""Every scenario holds: what is right scores perfectly on the real engine, what is wrong fails."""

import asyncio

import pytest

from evals.loading import load_scenarios
from evals.play import attempted, play
from evals.players import Player, Stage
from evals.players.boaster import BoasterPlayer
from evals.players.null import NullPlayer
from evals.players.oracle import OraclePlayer
from evals.scenario import Scenario
from evals.score import judge, score
from evals.tally import tally
from flows.catalogue import Catalogue

SCENARIOS = load_scenarios()


@pytest.mark.engine
@pytest.mark.anyio
async def test_references_and_alternatives_are_perfect_and_wrong_results_fail(engine_stage: Stage) -> None:
    jobs: list[tuple[Scenario, str, Player]] = []
    for scenario in SCENARIOS:
        jobs.append((scenario, "reference", OraclePlayer()))
        jobs += [
            (scenario, f"alternative {n + 1}", OraclePlayer(alternative=n)) for n in range(len(scenario.alternatives))
        ]
        jobs += [(scenario, f"wrong {n + 1}", OraclePlayer(wrong=n)) for n in range(len(scenario.wrong))]
    faults: list[str] = []
    waiting = iter(jobs)

    async def work() -> None:
        for scenario, what, player in waiting:
            attempt = await attempted(scenario, player, engine_stage)
            verdict = judge(scenario, attempt, engine_stage.catalogue)
            if what.startswith("wrong"):
                if verdict.passed is not False:
                    faults.append(f"{scenario.id} {what} did not fail: {verdict.harness_error}")
                continue
            short = [entry for entry in verdict.scores if entry.value is not None and float(entry.value) < 1.0]
            if verdict.passed is not True or short:
                reasons = "; ".join(f"{entry.name}: {entry.reason}" for entry in short)
                faults.append(f"{scenario.id} {what}: {verdict.harness_error or reasons}")

    await asyncio.gather(work(), work())
    assert faults == []


@pytest.mark.anyio
@pytest.mark.parametrize("player", [NullPlayer(), BoasterPlayer()], ids=["null", "boaster"])
async def test_doing_nothing_earns_nothing_that_matters(player: Player, stage: Stage, catalogue: Catalogue) -> None:
    playable = [scenario for scenario in SCENARIOS if not scenario.services and not scenario.components]
    verdicts = score(playable, await play(playable, player, stage), catalogue)
    result = tally(verdicts)
    assert result.harness_errors == 0
    assert result.pass_rate == 0.0
    for name in ("built", "resolved", "nodes", "edges", "parameters", "values", "edit_recall", "clarified"):
        assert result.rates[name] == 0.0, name
    assert result.rates["honest"] == (None if player.name == "null" else 0.0)
