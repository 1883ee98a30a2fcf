"""Playing round after round tells every score that is not what it was."""

import pytest

from evals.play.environment import PlayEnvironment
from scripts.soak_evals import soak
from tests.evals.conftest import scenario_named
from tests.shared.stand_ins import StandInRunner, ran


@pytest.mark.anyio
async def test_rounds_that_score_the_same_tell_nothing(environment: PlayEnvironment) -> None:
    assert await soak([scenario_named("question-count")], environment, 2) == []


@pytest.mark.anyio
async def test_a_score_that_has_changed_is_reported(environment: PlayEnvironment, runner: StandInRunner) -> None:
    built, *probes = (ran(text) for text in ("one", "one", "two words"))
    runner.results = [built, *probes, ran("another")]
    told = await soak([scenario_named("echo-wired")], environment, 2)
    assert any(line.startswith("oracle, round ") and "echo-wired passed before" in line for line in told)
    assert any("echo-wired: resolved True -> False" in line for line in told)
