"""What tests of the harness share: stages without and with an engine, and turns by hand."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import cache

import pytest

from agent.settings import AssistantSettings
from agent.turn.result import TurnResult
from evals.attempt import Attempt, Versions
from evals.play.environment import PlayEnvironment
from evals.play.stub_services import HOST
from evals.scenario import Scenario
from evals.scenarios.flows import read_flow
from evals.scenarios.loader import load_scenarios
from flows.catalogue import Catalogue
from flows.diff import diff
from flows.document import Flow
from runtime.install.environment import RunnerEnvironment
from runtime.results import RunResult
from runtime.runner import Runner
from tests.shared.stand_ins import StandInRunner, ran


@pytest.fixture
def runner() -> StandInRunner:
    """An engine that answers every run with `hello there`."""
    return StandInRunner(results=[ran("hello there")])


@pytest.fixture
def environment(runner: StandInRunner, catalogue: Catalogue) -> PlayEnvironment:
    """An environment without an engine."""
    settings = AssistantSettings(model="demo")
    return PlayEnvironment(settings=settings, catalogue=catalogue, runner=runner, versions=Versions(lfx="stand-in"))


@pytest.fixture(scope="session")
def full_catalogue(runner_environment: RunnerEnvironment) -> Catalogue:
    """All component types of the engine."""
    return Catalogue.load()


@pytest.fixture(scope="session")
async def engine_environment(
    full_catalogue: Catalogue, warm_environment: RunnerEnvironment
) -> AsyncIterator[PlayEnvironment]:
    """An environment with the real engine."""
    async with Runner(warm_environment, concurrency=2, private_hosts=(HOST,)) as engine:
        assert await engine.ready(300)
        yield PlayEnvironment(settings=AssistantSettings(model="demo"), catalogue=full_catalogue, runner=engine)


def scenario_named(name: str) -> Scenario:
    """One of the scenarios that come with Wirewright."""
    return next(scenario for scenario in scenarios() if scenario.id == name)


@cache
def scenarios() -> tuple[Scenario, ...]:
    """The scenarios that come with Wirewright, read once."""
    return load_scenarios()


Played = Callable[..., Attempt]


@pytest.fixture
def played(catalogue: Catalogue) -> Played:
    """Makes an attempt at a scenario by hand: the flow that it left, what it said, what it ran."""

    def make(
        scenario: Scenario,
        after: str | Flow | None,
        *,
        text: str = "",
        runs: Sequence[RunResult] = (),
        probes: Sequence[RunResult] | None = None,
        **more: object,
    ) -> Attempt:
        before = Flow.empty() if scenario.canvas is None else read_flow(scenario.canvas, catalogue)
        flow = before if after is None else read_flow(after, catalogue) if isinstance(after, str) else after
        turn = TurnResult(
            outcome="complete",
            intent="build_flow",
            text=text,
            before=before,
            after=flow,
            actions=list(diff(before, flow)),
            runs=list(runs),
            seconds=0.1,
        )
        made = right_probes(scenario) if probes is None else probes
        return Attempt(
            scenario=scenario.id,
            digest=scenario.digest,
            player="hand",
            turns=[turn] * len(scenario.turns),
            asked=list(range(len(scenario.turns))),
            probes=list(made),
        ).model_copy(update=more)

    return make


def right_probes(scenario: Scenario) -> list[RunResult]:
    """Runs that give what every probe must."""
    found: list[RunResult] = []
    for probe in scenario.probes:
        found.append(ran(probe.equals or probe.contains or "something"))
        if probe.unlike is not None:
            found.append(ran("something else"))
    return found
