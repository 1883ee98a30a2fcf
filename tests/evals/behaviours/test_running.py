"""Flows and references on the inputs of scenarios: compared on the engine, and taken from the recording."""

from dataclasses import replace
from typing import cast

import pytest

from evals.behaviours.check import check_inputs
from evals.behaviours.derivation import inputs_of
from evals.behaviours.families import Conversations, Given, Input, Inputs
from evals.behaviours.outcomes import Outcome, agree
from evals.behaviours.recorded import Behaviours, flow_key, recorded_behaviours
from evals.behaviours.running import Engine, compare_behaviours, learn_probes, outcomes
from evals.expectation import Probe
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.play.user_components import make_user_components, with_user_components
from evals.players.function import FunctionPlayer
from evals.scenario import Scenario, Turn, Wrong
from evals.scenarios.flows import read_flow
from evals.score import score_attempt
from flows.catalogue import Catalogue
from runtime.results import RunError
from tests.evals.conftest import scenario_named, scenarios
from tests.shared.stand_ins import StandInRunner, ran
from tools.workbench import FlowRunner

pytestmark = pytest.mark.anyio

WITH_INPUTS = [scenario for scenario in scenarios() if scenario.inputs]
BUILT_IN = [scenario for scenario in WITH_INPUTS if not scenario.components]
SAMPLE = [scenario for scenario in BUILT_IN if not scenario.services][::12]
"""Scenarios whose references are run in tests, and not only taken from the recording."""

ENOUGH_TO_SEE = 5
"""How many inputs of a sampled scenario are run."""

TRIAGE = """
name: Triage
nodes:
  chat: ChatInput
  choice: ConditionalRouter
  yes: Prompt Template
  no: Prompt Template
  first: ChatOutput
  second: ChatOutput
edges:
  chat.message -> choice.input_text
  choice.true_result -> yes.text
  choice.false_result -> no.text
  yes.prompt -> first.input_value
  no.prompt -> second.input_value
config:
  choice.operator: greater than
  choice.match_text: "50"
  yes.template: "High: {text}"
  no.template: "Low: {text}"
"""
NEAR_MISS = TRIAGE.replace("greater than", "greater than or equal")
REVIEW = Scenario(
    id="border",
    about="A border whose side the probes do not test.",
    turns=(Turn(say="Numbers over 50 are answered 'High: ' and the number, all others 'Low: ' and the number."),),
    reference=TRIAGE,
    wrong=(Wrong(because="the border itself is high", flow=NEAR_MISS),),
    probes=(Probe(input="70", equals="High: 70"), Probe(input="3", equals="Low: 3")),
    inputs=Inputs(derive=True),
)


def engine(runner: FlowRunner, catalogue: Catalogue, known: Behaviours | None = None) -> Engine:
    """An engine that knows nothing, unless something is given."""
    return Engine(runner=runner, catalogue=catalogue, known=known or Behaviours())


@pytest.mark.engine
async def test_a_flow_that_every_probe_passes_fails_on_the_border(engine_environment: PlayEnvironment) -> None:
    flow = read_flow(NEAR_MISS, engine_environment.catalogue).to_json()

    async def almost(_: object) -> dict[str, object]:
        return {"flow": flow, "text": "I built it."}

    player = FunctionPlayer(almost, "python:almost")
    attempt = await play_attempt(REVIEW, player, engine_environment)
    verdict = score_attempt(REVIEW, attempt, engine_environment.catalogue)
    assert verdict.value("resolved") is True
    assert verdict.value("behaves") is False
    assert verdict.passed is False
    [reason] = [score.reason for score in verdict.failures]
    assert reason == "for '50' (at the border) it gives 'High: 50', and the reference 'Low: 50'"


@pytest.mark.engine
async def test_the_comparison_ends_at_the_first_difference(engine_environment: PlayEnvironment) -> None:
    catalogue = engine_environment.catalogue
    on = engine(engine_environment.runner, catalogue)
    right = await compare_behaviours(REVIEW, read_flow(TRIAGE, catalogue), on)
    assert [one.input for one in right] == list(inputs_of(REVIEW, catalogue))
    assert all(one.given == one.wanted for one in right)
    wrong = await compare_behaviours(REVIEW, read_flow(NEAR_MISS, catalogue), on)
    assert REVIEW.inputs is not None
    assert [agree(REVIEW.inputs, one.given, one.wanted) for one in wrong] == [True] * (len(wrong) - 1) + [False]
    assert await check_inputs(REVIEW, on) == []


@pytest.mark.engine
async def test_a_wrong_result_that_behaves_alike_is_a_fault_unless_it_says_why(
    engine_environment: PlayEnvironment,
) -> None:
    on = engine(engine_environment.runner, engine_environment.catalogue)
    alike = REVIEW.model_copy(update={"wrong": (Wrong(because="nothing", flow=TRIAGE),)})
    assert await check_inputs(alike, on) == ["wrong 1 (nothing) gives what the reference gives on every input"]
    said = REVIEW.model_copy(update={"wrong": (Wrong(because="nothing", flow=TRIAGE, alike="it is the same"),)})
    assert await check_inputs(said, on) == []
    false = REVIEW.model_copy(update={"wrong": (Wrong(because="border", flow=NEAR_MISS, alike="it is the same"),)})
    assert await check_inputs(false, on) == ["wrong 1 is said to behave alike (it is the same), and differs"]


@pytest.mark.engine
async def test_an_alternative_that_differs_is_a_fault(engine_environment: PlayEnvironment) -> None:
    on = engine(engine_environment.runner, engine_environment.catalogue)
    differing = REVIEW.model_copy(update={"alternatives": (NEAR_MISS,)})
    [fault] = await check_inputs(differing, on)
    assert fault.startswith("alternative 1 differs: for '50' (at the border) it gives 'High: 50'")


@pytest.mark.engine
async def test_earlier_messages_are_remembered_in_their_session_only(engine_environment: PlayEnvironment) -> None:
    memory = scenario_named("memory-build")
    flow = read_flow(memory.reference or "", engine_environment.catalogue)
    inputs = [
        Input(trait="given", text="What was it?"),
        Input(trait="earlier messages", text="What was it?", earlier=("tea",)),
        Input(trait="given", text="What was it?"),
    ]
    on = engine(engine_environment.runner, engine_environment.catalogue)
    found = await outcomes(memory, flow, inputs, on)
    assert [one.outputs for one in found] == [("Yes?",), ("A hot drink it is.",), ("Yes?",)]


async def test_an_input_names_a_service_by_its_address(full_catalogue: Catalogue) -> None:
    desk = scenario_named("mcp-take-out")
    runner = StandInRunner()
    asked = Input(trait="given", text="Open {{service:desk}}/page", earlier=("Is {{service:desk}} up?",))
    await outcomes(desk, read_flow(desk.reference or "", full_catalogue), [asked], engine(runner, full_catalogue))
    [(_, before), (_, text)] = runner.asked
    address = (text or "").removeprefix("Open ").removesuffix("/page")
    assert address.startswith("http://127.0.0.1:")
    assert before == f"Is {address} up?"


@pytest.mark.engine
@pytest.mark.parametrize("scenario", SAMPLE, ids=lambda scenario: scenario.id)
async def test_the_engine_gives_what_is_recorded(scenario: Scenario, engine_environment: PlayEnvironment) -> None:
    catalogue = engine_environment.catalogue
    inputs = inputs_of(scenario, catalogue)[:ENOUGH_TO_SEE]
    reference = read_flow(scenario.reference or "", catalogue)
    recorded = engine(engine_environment.runner, catalogue, Behaviours(recorded_behaviours()))
    live = engine(engine_environment.runner, catalogue)
    assert await outcomes(scenario, reference, inputs, live) == await outcomes(scenario, reference, inputs, recorded)


@pytest.mark.table
@pytest.mark.parametrize("scenario", BUILT_IN, ids=lambda scenario: scenario.id)
async def test_right_flows_agree_and_wrong_ones_differ_by_what_is_recorded(
    scenario: Scenario, full_catalogue: Catalogue
) -> None:
    runner = StandInRunner()
    recorded = engine(runner, full_catalogue, Behaviours(recorded_behaviours()))
    assert await check_inputs(scenario, recorded) == []
    assert runner.asked == [], "python -m scripts.recorded_behaviours"


@pytest.mark.engine
@pytest.mark.parametrize("scenario", [one for one in WITH_INPUTS if one.components], ids=lambda scenario: scenario.id)
async def test_the_same_holds_with_components_of_the_users_own(
    scenario: Scenario, engine_environment: PlayEnvironment
) -> None:
    made = await make_user_components(scenario.components, engine_environment.runner)
    catalogue = with_user_components(engine_environment.catalogue, made.types)
    runner = StandInRunner()
    assert await check_inputs(scenario, engine(runner, catalogue, Behaviours(recorded_behaviours()))) == []
    assert runner.asked == [], "python -m scripts.recorded_behaviours"


async def test_what_is_known_is_not_run_and_unstable_errors_are_not_kept() -> None:
    known = Behaviours()
    one = Input(trait="given", text="a")
    known.learn("flow", one, Outcome(error="timeout"))
    assert known.outcome("flow", one) is None
    known.learn("flow", one, Outcome(outputs=("a",)))
    assert known.outcome("flow", Input(trait="word", text="a")) == Outcome(outputs=("a",))
    assert known.outcome("other", one) is None
    assert known.to_bytes() == known.to_bytes()


async def test_what_the_runs_of_probes_gave_is_not_run_again(full_catalogue: Catalogue) -> None:
    flow = read_flow(NEAR_MISS, full_catalogue)
    engine = Engine(runner=cast("FlowRunner", StandInRunner()), catalogue=full_catalogue, known=Behaviours())
    results = [ran("High: 70"), replace(ran("x"), error=RunError(code="timeout", message="late"))]
    key = flow_key(flow, REVIEW, full_catalogue.version)
    first, second = (Input(trait="sentence", text=probe.input or "") for probe in REVIEW.probes[:2])
    learn_probes(REVIEW, flow, results, engine)
    assert engine.known.outcome(key, first) == Outcome(outputs=("High: 70",))
    assert engine.known.outcome(key, second) is None
    served = REVIEW.model_copy(update={"services": scenario_named("service-fetch").services})
    learn_probes(served, flow, results, engine)
    assert engine.known.outcome(flow_key(flow, served, full_catalogue.version), first) is None


def test_families_by_hand_need_no_derivation(full_catalogue: Catalogue) -> None:
    families = (
        Given(kind="given", texts=tuple("abcdefg")),
        Conversations(kind="conversations", messages=(("a", "b"),)),
    )
    scenario = REVIEW.model_copy(update={"inputs": Inputs(families=families)})
    assert [each.trait for each in inputs_of(scenario, full_catalogue)] == ["given"] * 7 + ["earlier messages"]
