"""Verification: what the model must mend, and what has its cause outside the flow."""

import pytest
from pydantic_ai import CustomEvent

from flows.catalogue import Catalogue
from runtime.install.environment import RunnerEnvironment
from runtime.results import RunError
from runtime.runner import Runner
from tests.shared.flow_texts import BARE_ECHO, flow_of
from tests.shared.stand_ins import StandInRunner, ran
from tools.verify import Verification, verify
from tools.workbench import FlowRunner, Workbench

pytestmark = pytest.mark.anyio

DEGREES = """
name: Degrees
nodes:
  call: APIRequest
  number: ParserComponent
  answer: ChatOutput
edges:
  call.data -> number.input_data
  number.parsed_text -> answer.input_value
config:
  call.url_input: https://example.com/today
  number.pattern: "{result[degrees]}"
"""
CODE = RunError(code="code", message="string indices must be integers", node="number")


async def verified(spec: str, catalogue: Catalogue, runner: FlowRunner) -> Verification:
    made = flow_of(spec, catalogue)
    bench = Workbench(user="u", session="s", catalogue=catalogue, runner=runner, flow=made)
    return await verify(_discard, bench, made)


async def _discard(event: CustomEvent) -> None:
    del event


@pytest.fixture
def whole(runner_environment: RunnerEnvironment) -> Catalogue:
    return Catalogue.load(runner_environment.catalogue)


async def test_a_failure_after_an_unreachable_service_is_a_caveat(whole: Catalogue) -> None:
    found = await verified(DEGREES, whole, StandInRunner(results=[ran(error=CODE)]))
    assert found.to_correct == ""
    assert found.caveat is not None
    assert "API Request" in found.caveat
    assert "without the network" in found.caveat


async def test_the_same_failure_without_a_service_is_for_the_model_to_correct(catalogue: Catalogue) -> None:
    found = await verified(BARE_ECHO, catalogue, StandInRunner(results=[ran(error=CODE)]))
    assert found.caveat is None
    assert found.to_correct


async def test_wrong_wiring_is_corrected_even_when_the_flow_uses_the_network(whole: Catalogue) -> None:
    wiring = RunError(code="wiring", message="Edge not found.", node="number")
    found = await verified(DEGREES, whole, StandInRunner(results=[ran(error=wiring)]))
    assert found.caveat is None
    assert "Edge not found" in found.to_correct


@pytest.mark.engine
async def test_a_flow_that_reads_an_answer_can_be_built_although_nothing_answers(
    engine: Runner, whole: Catalogue
) -> None:
    found = await verified(DEGREES, whole, engine)
    assert found.faults == ()
    assert found.to_correct == ""
    assert found.caveat is not None
