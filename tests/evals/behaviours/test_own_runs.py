"""A crash of the engine in the harness's own run is not the agent's failure, unless the flow's own code caused it."""

from dataclasses import dataclass, field, replace

import pytest

from evals.behaviours.families import Input
from evals.behaviours.outcomes import Outcome
from evals.behaviours.own_runs import EngineCrashed, own_runs
from evals.behaviours.recorded import Behaviours
from evals.mutate.matrix import build_matrix
from evals.mutate.trials import prepare_mutants, run_trials
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.play.flow_check import FlowCheck, check_flow
from evals.players.given_flow import GivenFlowPlayer
from evals.players.player import WithoutEngine
from evals.score import score_attempt
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.options import RunOptions
from runtime.results import BUSY, RunError, RunErrorCode, RunResult
from tests.evals.conftest import scenario_named
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio

ECHO = scenario_named("echo-wired")


def crashed(message: str = "The run's process ended with exit code 70 before it gave a result.") -> RunResult:
    """A run whose process ended."""
    return ran(error=RunError(code="crash", message=message))


@dataclass
class Crashing(StandInRunner):
    """An engine that repeats what is typed, and whose process ends in some of its runs, by their number from 0."""

    ends: frozenset[int] = frozenset()
    own_code: bool = False
    waited: list[float | None] = field(default_factory=list["float | None"])

    async def ready(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout)
        return True

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        self.asked.append((flow, text))
        result = crashed() if len(self.asked) - 1 in self.ends else ran(text)
        return replace(result, untrusted_code=self.own_code)


async def execute(runner: StandInRunner) -> RunResult:
    """One run of the harness."""
    return await own_runs(runner).execute(Flow.empty(), "hi", RunOptions())


async def test_a_run_whose_process_ended_is_made_once_more_in_a_fresh_one() -> None:
    runner = Crashing(ends=frozenset({0}))
    assert (await execute(runner)).output == "hi"
    assert (len(runner.asked), len(runner.waited)) == (2, 1)


async def test_a_run_that_was_not_accepted_is_made_once_more() -> None:
    runner = StandInRunner(results=[ran(error=BUSY), ran("hi")])
    assert (await execute(runner)).output == "hi"


async def test_two_ends_are_the_engines_fault() -> None:
    with pytest.raises(EngineCrashed, match=r"ended twice in a run of the harness: .*exit code 70"):
        await execute(Crashing(ends=frozenset({0, 1})))


async def test_two_ends_are_the_flows_fault_when_it_has_code_of_its_own() -> None:
    result = await execute(Crashing(ends=frozenset({0, 1}), own_code=True))
    assert result.error is not None
    assert result.error.code == "crash"


@pytest.mark.parametrize("code", ["limit", "timeout", "code"])
async def test_what_the_flow_itself_ran_into_is_a_result(code: RunErrorCode) -> None:
    runner = StandInRunner(results=[ran(error=RunError(code=code, message="too much"))])
    assert (await execute(runner)).error is not None
    assert len(runner.asked) == 1


@pytest.mark.parametrize(
    ("runner", "becomes"),
    [
        (Crashing(), "passed"),
        (Crashing(ends=frozenset({0})), "passed"),
        (Crashing(ends=frozenset({0, 1})), "not judged: the flow engine ended twice"),
        (Crashing(ends=frozenset({0, 1}), own_code=True), "failed: "),
    ],
    ids=["never", "once", "twice", "own code"],
)
async def test_a_crash_in_a_run_of_the_harness_does_not_fail_an_agent(
    runner: Crashing, becomes: str, environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    player = WithoutEngine(GivenFlowPlayer(ECHO.reference or ""))
    verdict = score_attempt(ECHO, await play_attempt(ECHO, player, replace(environment, runner=runner)), catalogue)
    found = {None: f"not judged: {verdict.harness_error}", True: "passed", False: f"failed: {verdict.why}"}
    assert found[verdict.passed].startswith(becomes)


class Forgetful(Behaviours):
    """Knows no outcome, so that every comparison runs its flows."""

    def outcome(self, flow: str, given: Input) -> Outcome | None:
        return None


@pytest.mark.parametrize(("ends", "becomes"), [((0,), "passed"), ((0, 1), "not judged: the flow engine ended twice")])
async def test_a_crash_while_a_checked_flow_is_compared_is_tried_again(
    ends: tuple[int, ...], becomes: str, environment: PlayEnvironment
) -> None:
    async def checked(runner: Crashing) -> FlowCheck:
        surroundings = replace(environment, runner=runner, behaviours=Forgetful())
        return await check_flow(ECHO, ECHO.reference or "", surroundings)

    calm = Crashing()
    inputs = (await checked(calm)).compared
    first = len(calm.asked) - 2 * inputs  # each input is run on the flow and on the reference, after the play
    verdict = (await checked(Crashing(ends=frozenset(first + number for number in ends)))).verdict
    found = "passed" if verdict.passed else f"not judged: {verdict.harness_error}"
    assert found.startswith(becomes)


@pytest.mark.parametrize(("crashes", "judged"), [(False, True), (True, False)])
async def test_a_crash_in_the_runs_of_a_mutant_judges_nothing(
    crashes: bool, judged: bool, environment: PlayEnvironment
) -> None:
    player = WithoutEngine(GivenFlowPlayer(ECHO.reference or ""))
    calm = replace(environment, runner=Crashing(), behaviours=Forgetful())
    attempt = await play_attempt(ECHO, player, calm)
    mutants = prepare_mutants({ECHO.id: ECHO}, [attempt], calm, 1)
    runner = Crashing(ends=frozenset(range(10_000)) if crashes else frozenset())
    trials = await run_trials(mutants, replace(calm, runner=runner))
    flows = {mutant.id: mutant.attempt.flow for mutant, _, _ in mutants if mutant.flow_changed}
    run = {name for name, flow in flows.items() if flow is not None and not flow.is_empty}
    assert run
    assert {trial.id for trial in trials if trial.not_judged} == (set() if judged else run)
    counted = build_matrix(trials)
    assert {trial.id for trial in counted.not_judged} == (set() if judged else run)
    assert not run & {trial.id for trial in (*counted.survivors, *counted.missed)} or judged
