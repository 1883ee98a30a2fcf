"""Faults that are seeded into passing attempts: what the operators make, and that the graders see it."""

from dataclasses import replace

import pytest

from agent.turn.request import TurnRequest
from evals.attempt import Attempt
from evals.expectation import Expect, Probe
from evals.fix.attempts import fix_of
from evals.mutate.matrix import ACCEPTED, ALIKE, AcceptedError, Survivor, build_matrix, read_accepted
from evals.mutate.mutants import OPERATORS, Mutant, generate_mutants
from evals.mutate.trials import SAMPLE, Trial, prepare_mutants, run_trials
from evals.play.attempts import play, play_attempt
from evals.play.environment import PlayEnvironment
from evals.play.versions import versions
from evals.players.function import FunctionPlayer
from evals.players.oracle.player import OraclePlayer
from evals.scenario import Scenario, Turn
from evals.score import COMPARING, score_attempt
from flows.fingerprints import fingerprint
from flows.spec import build
from tests.evals.conftest import scenario_named
from tests.evals.run_cache import with_cached_runs

pytestmark = [pytest.mark.anyio, pytest.mark.engine]


@pytest.fixture(scope="session")
def environment(engine_environment: PlayEnvironment) -> PlayEnvironment:
    """An environment with the engine, that knows its version."""
    return replace(engine_environment, versions=versions(engine_environment.catalogue.version))


@pytest.fixture(scope="module")
def scenarios() -> dict[str, Scenario]:
    return {name: scenario_named(name) for name in SAMPLE}


@pytest.fixture(scope="module")
async def attempts(environment: PlayEnvironment, scenarios: dict[str, Scenario]) -> list[Attempt]:
    return await play(list(scenarios.values()), OraclePlayer(), environment)


@pytest.fixture(scope="module")
async def found(environment: PlayEnvironment, scenarios: dict[str, Scenario], attempts: list[Attempt]) -> list[Trial]:
    mutants, trials = prepare_mutants(scenarios, attempts, environment, 1), list[Trial]()
    for scenario in scenarios.values():
        concerned = [mutant for mutant in mutants if mutant[1] is scenario]
        trials += await run_trials(concerned, with_cached_runs(environment, scenario))
    return sorted(trials, key=lambda trial: trial.id)


async def test_at_least_95_of_100_mutants_are_killed(found: list[Trial]) -> None:
    counted = build_matrix(found, read_accepted())
    assert counted.kill_rate is not None
    assert counted.kill_rate >= 0.95, counted.survivors
    assert counted.stale == ()
    assert set(counted.operators) == set(OPERATORS), "every operator is tried"


async def test_no_evaluator_sees_a_fault_where_nothing_was_changed(found: list[Trial]) -> None:
    counted = build_matrix(found)
    assert counted.controls >= 5
    assert counted.disturbed == ()


async def test_most_mutants_turn_the_verdict_and_not_only_a_grade(found: list[Trial]) -> None:
    counted = build_matrix(found)
    assert (
        sum(row.failed for row in counted.operators.values()) / sum(row.tried for row in counted.operators.values())
        >= 0.8
    )


async def test_the_verdict_of_every_near_miss_turns_unless_it_is_listed(found: list[Trial]) -> None:
    counted = build_matrix(found, alike=read_accepted(ALIKE))
    assert sum(row.tried for row in counted.near_misses.values()) >= 15
    assert [f"{trial.id}: {trial.what}" for trial in counted.missed] == []


async def test_every_mutant_is_another_flow_or_another_story(
    attempts: list[Attempt], environment: PlayEnvironment, scenarios: dict[str, Scenario]
) -> None:
    del scenarios
    for attempt in attempts:
        made = list(generate_mutants(attempt, environment.catalogue))
        assert made == list(generate_mutants(attempt, environment.catalogue)), "the same every time"
        assert len({mutant.id for mutant in made}) == len(made)
        for mutant in made:
            assert mutant.attempt.turns != attempt.turns
            assert mutant.flow_changed == _another_flow(mutant, attempt)


def _another_flow(mutant: Mutant, attempt: Attempt) -> bool:
    assert mutant.attempt.flow is not None
    assert attempt.flow is not None
    return fingerprint(mutant.attempt.flow) != fingerprint(attempt.flow)


async def test_an_attempt_that_fails_is_not_mutated(
    environment: PlayEnvironment, scenarios: dict[str, Scenario], attempts: list[Attempt]
) -> None:
    failed = [attempt.model_copy(update={"stopped": "timeout"}) for attempt in attempts]
    assert prepare_mutants(scenarios, failed, environment) == []


OPEN = Scenario(
    id="open-greeting",
    about="Something greets by name; which flow does, is left open.",
    tags=("build",),
    turns=(Turn(say="Make me a bot that says hello to the name that I type."),),
    open=True,
    expect=Expect(types=("Prompt Template",), one_of=(("ChatInput", "TextInput"), ("ChatOutput",))),
    probes=(Probe(input="Ada", contains="Ada", unlike="Bob"),),
)
GREETING = """
name: Greeting
nodes:
  chat: ChatInput
  hello: Prompt Template
  answer: ChatOutput
edges:
  chat.message -> hello.name
  hello.prompt -> answer.input_value
config:
  hello.template: Hello {name}!
"""


async def test_an_open_scenario_is_mutated_and_its_probes_and_expectations_see_the_faults(
    environment: PlayEnvironment,
) -> None:
    async def greets(request: TurnRequest) -> dict[str, object]:
        flow = build(GREETING, environment.catalogue).flow
        return {"flow": flow.to_json() if flow else None, "text": "I built a bot that says hello."}

    attempt = await play_attempt(OPEN, FunctionPlayer(greets, "greets"), environment)
    assert score_attempt(OPEN, attempt, environment.catalogue).passed is True
    counted = build_matrix(await run_trials(prepare_mutants({OPEN.id: OPEN}, [attempt], environment, 1), environment))
    for operator in ("drop_edge", "reverse_edge", "delete_node", "false_claim", "ignored_instruction"):
        assert counted.operators[operator].killed == counted.operators[operator].tried == 1, operator
    assert counted.disturbed == ()
    names = {name for row in counted.operators.values() for name in row.seen_by}
    assert "resolved" in names
    assert not names & COMPARING, "nothing is compared with a reference flow that is not known"
    assert await fix_of(OPEN, attempt, environment) is None
    assert await fix_of(OPEN, attempt.model_copy(update={"turns": []}), environment) is None


def test_accepted_survivors_are_left_out_and_stale_ones_named() -> None:
    killed = Trial("a/drop_edge/0", "drop_edge", "", ("edges",), failed=True)
    alive = Trial("b/drop_edge/0", "drop_edge", "", (), failed=False)
    counted = build_matrix([killed, alive])
    assert counted.kill_rate == 0.5
    assert counted.survivors == (alive,)
    listed = [Survivor(id="b/drop_edge/0", because="no difference"), Survivor(id="gone/x/1", because="old")]
    counted = build_matrix([killed, alive], listed)
    assert counted.kill_rate == 1.0
    assert counted.stale == ("gone/x/1",)
    assert build_matrix([]).kill_rate is None


@pytest.mark.parametrize("text", ["{", "a: b", "- id: 3", "- {id: a}", "- {id: a, because: b, more: c}"])
def test_a_bad_list_of_survivors_is_refused(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("accepted") / "accepted.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AcceptedError, match=r"accepted\.yaml"):
        read_accepted(path)


def test_the_kept_list_can_be_read() -> None:
    assert all(survivor.because for survivor in read_accepted(ACCEPTED))
