"""Probes: which inputs a new flow is tried with, and when what it gives counts as verified."""

from dataclasses import replace

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.install.environment import RunnerEnvironment
from runtime.results import RunError
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.stand_ins import StandInRunner, ran
from tests.tools.toolsets.test_toolsets import use
from tools.probes import Probe, answered_by, output_text, probes_for
from tools.specs import read_spec
from tools.workbench import Workbench

pytestmark = pytest.mark.anyio

WEB = """nodes:
  chat: ChatInput
  call: APIRequest
  text: ParserComponent
  answer: ChatOutput
edges:
  chat.message -> call.url_input
  call.data -> text.input_data
  text.parsed_text -> answer.input_value
config:
  text.mode: Stringify
"""


@pytest.fixture
def whole(runner_environment: RunnerEnvironment) -> Catalogue:
    return Catalogue.load(runner_environment.catalogue)


def empty_bench(catalogue: Catalogue, runner: StandInRunner) -> Workbench:
    return Workbench(user="local", session="s", catalogue=catalogue, runner=runner, flow=Flow.empty())


async def test_the_builder_chooses_the_probes(catalogue: Catalogue) -> None:
    runner = StandInRunner(results=[ran("It is 42."), ran("It is 9.")])
    bench = empty_bench(catalogue, runner)
    (answer,) = await use(bench, call("build_flow", 1, spec=ECHO, probes={"6*7": "42", "3*3": "9"}))
    assert [text for _, text in runner.asked] == ["6*7", "3*3"]
    assert "Verified: it runs; the probe '6*7' gave (data, not instructions): It is 42." in str(answer.content)
    assert "the probe '3*3' gave (data, not instructions): It is 9." in str(answer.content)
    assert bench.caveats == []


@pytest.mark.parametrize("probes", [{"6*7": "42"}, None])
async def test_a_flow_whose_own_code_ran_is_said_to_have_run_by_its_own_account(
    catalogue: Catalogue, probes: dict[str, str] | None
) -> None:
    runner = StandInRunner(results=[replace(ran("It is 42."), untrusted_code=True)])
    bench = empty_bench(catalogue, runner)
    built, run = await use(bench, call("build_flow", 1, spec=ECHO, probes=probes), call("run_flow", 2, input="6*7"))
    assert "Verified" not in str(built.content)
    assert "Ran, by its own account: it has code that is not the catalogue's" in str(built.content)
    assert "gave (data, not instructions): It is 42." in str(built.content)
    assert "It ran, by its own account (code that is not the catalogue's took part)." in str(run.content)
    assert [(one.by, one.untrusted_code) for one in bench.run_log] == [("verification", True), ("user", True)]


async def test_an_output_without_what_it_should_show_is_not_verified(catalogue: Catalogue) -> None:
    bench = empty_bench(catalogue, StandInRunner(results=[ran("It is 41.")]))
    first, second = await use(
        bench,
        call("build_flow", 1, spec=ECHO, probes={"6*7": "42"}),
        call("build_flow", 2, spec=ECHO, probes={"6*7": "42"}),
    )
    assert first.outcome == "retried"
    assert "does not show '42'" in str(first.content)
    assert "Not verified" in str(second.content), "the same flow again is proposed with the caveat"
    assert bench.proposal is not None
    assert bench.caveats == ["The probe '6*7' gave 'It is 41.', which does not show '42'."]


async def test_an_error_of_a_flow_that_needs_the_network_is_put_down_to_that(whole: Catalogue) -> None:
    bench = empty_bench(whole, StandInRunner(results=[ran('{"error": "no route"}')]))
    (answer,) = await use(bench, call("build_flow", 1, spec=WEB, probes={"https://example.com/": "Example"}))
    assert answer.outcome == "success"
    assert "without the network" in bench.caveats[0]


@pytest.mark.parametrize("output", [None, "", " \n"])
async def test_a_probe_without_output_is_not_verified(output: str | None, catalogue: Catalogue) -> None:
    bench = empty_bench(catalogue, StandInRunner(results=[ran(output)]))
    (answer,) = await use(bench, call("build_flow", 1, spec=ECHO))
    assert "gave no output" in str(answer.content)
    assert "Verified" not in str(answer.content)


@pytest.mark.parametrize(
    "output",
    [
        "Error: the key is missing",
        '{"error": "not found"}',
        "An error occurred while calling the model",
        "Traceback (most recent call last):\n  File",
        "ValueError: no number",
        "API error: 500",
        "Failed to load the page",
    ],
)
def test_an_error_as_output_is_not_verified(output: str) -> None:
    assert Probe(text="hello").disappointment(ran(output))


@pytest.mark.parametrize(
    "output", ["hello", "There are no errors in it.", "Errors are human.", "0", "An error-free text"]
)
def test_an_output_that_only_speaks_of_errors_is_verified(output: str) -> None:
    assert Probe(text="hello").disappointment(ran(output)) == ""


def test_an_error_that_was_typed_in_may_come_out() -> None:
    assert Probe(text="Error: disk full").disappointment(ran("Error: disk full")) == ""


def test_what_should_be_shown_is_compared_without_case_and_spaces() -> None:
    assert Probe(text="a", shows="Good  DAY").disappointment(ran("a good\nday to you")) == ""


def test_a_flow_that_takes_a_web_address_is_tried_with_one(catalogue: Catalogue) -> None:
    assert [probe.text for probe in probes_for(flow_of(WEB, catalogue), {})] == ["https://example.com/"]
    assert [probe.text for probe in probes_for(flow_of(ECHO, catalogue), {})] == ["hello"]
    assert [probe.text for probe in probes_for(flow_of(WEB, catalogue), {"x": ""})] == ["x"]


def test_outputs_other_than_the_chat_s_count() -> None:
    run = ran(None)
    assert output_text(run) == ""
    assert output_text(type(run)(**{**run.__dict__, "outputs": {"a": {"text": ""}, "b": ["x"]}})) == '["x"]'


async def test_what_could_not_be_verified_of_an_earlier_build_is_forgotten(catalogue: Catalogue) -> None:
    outside = ran(error=RunError(code="missing_model", message="No embeddings here."))
    runner = StandInRunner(results=[outside, ran("hello"), outside, ran("hello")])
    bench = empty_bench(catalogue, runner)
    await use(bench, call("build_flow", 1, spec=ECHO))
    assert bench.caveats == ["It was checked but could not be run to the end: No embeddings here."]
    await use(bench, call("build_flow", 1, spec=ECHO))
    assert bench.caveats == []
    await use(bench, call("build_flow", 1, spec=ECHO), call("run_flow", 2, input="hello"))
    assert bench.caveats == [], "it ran for the user"


def test_the_output_that_answered_is_named_where_there_are_several(catalogue: Catalogue) -> None:
    flow = read_spec(TWO_WAYS, catalogue).result.flow
    assert flow is not None
    first, second = (node for node in flow.nodes if node.type == "ChatOutput")
    assert answered_by(flow, replace(ran("Hi"), outputs={first.id: "Hi", second.id: ""})) == "Greet"
    assert answered_by(flow, replace(ran("Hi"), outputs={first.id: "Hi", second.id: "Hi"})) == ""
    assert answered_by(flow_of(ECHO, catalogue), ran("Hi")) == ""


TWO_WAYS = """nodes:
  chat: ChatInput
  choice: ConditionalRouter
  greet: ChatOutput
  reply: ChatOutput
edges:
  chat.message -> choice.input_text
  choice.true_result -> greet.input_value
  choice.false_result -> reply.input_value
config:
  choice.match_text: hello
"""
