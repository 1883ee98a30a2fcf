"""What a play runs on: limits of time that a busy machine does not reach, and models that only the harness has."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from agent.turn.request import TurnRequest
from evals.play.attempts import AttemptLimits, play_attempt
from evals.play.environment import PlayEnvironment, patient
from evals.players.function import FunctionPlayer
from evals.players.oracle.player import OraclePlayer
from flows.document import Flow
from runtime.gateway.models import Models
from runtime.options import RunOptions
from runtime.results import RunResult
from tests.evals.conftest import scenario_named
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio


class Timed(StandInRunner):
    """A runner that remembers how long runs may take."""

    allowed: float = 0.0
    iterations: int | None = None

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """The next result."""
        self.allowed, self.iterations = options.timeout, options.max_iterations
        return await super().execute(flow, text, options)


async def test_a_patient_runner_gives_runs_more_time_and_nothing_else() -> None:
    runner = Timed(results=[ran("hi")])
    done = await patient(runner, 10.0).execute(Flow.empty(), "x", RunOptions(timeout=30.0, max_iterations=200))
    assert (done.output, runner.allowed, runner.iterations) == ("hi", 300.0, 200)
    assert patient(runner, 1.0) is runner
    assert patient(runner, 10.0).state == "ready"


async def test_an_attempt_of_a_patient_play_may_take_longer(environment: PlayEnvironment) -> None:
    async def slow(_: TurnRequest) -> Mapping[str, Any]:
        time.sleep(0.05)  # noqa: ASYNC251  (blocks, so that the limit is looked at afterwards)
        return {"text": "I did nothing."}

    limits, player = AttemptLimits(seconds=0.01), FunctionPlayer(slow, "slow")
    hasty = await play_attempt(scenario_named("echo-wired"), player, environment, limits=limits)
    assert hasty.stopped == "timeout"
    calm = await play_attempt(scenario_named("echo-wired"), player, replace(environment, patience=1e6), limits=limits)
    assert calm.stopped is None


async def test_without_a_key_the_player_has_no_models_and_the_harness_has(environment: PlayEnvironment) -> None:
    scenario = scenario_named("model-system")
    for keyless in (False, True):
        runner = StandInRunner(results=[ran("done")])
        played = scenario.model_copy(update={"keyless": keyless, "inputs": None})
        assert played.probes
        await play_attempt(played, OraclePlayer(), replace(environment, runner=runner))
        scripted = [_is_scripted(models) for models in runner.models]
        assert all(scripted[-len(played.probes) :])
        assert (False in scripted) is keyless


def _is_scripted(models: Models | None) -> bool:
    """Whether the scenario's rules answer, and not a provider."""
    return models is not None and models.resolve is not None and "rule_models" in models.resolve.__qualname__
