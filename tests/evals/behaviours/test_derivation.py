"""What a reference flow suggests: the inputs of every bundled scenario, and the families of its nodes."""

from collections.abc import Sequence

import pytest

from evals.behaviours.derivation import derive, inputs_of
from evals.behaviours.families import ENOUGH, Inputs, LengthsAround, Lists, Matches, NumbersAround
from evals.expectation import Probe
from evals.scenario import Scenario, Turn
from flows.catalogue import Catalogue
from flows.spec import build
from tests.evals.conftest import scenario_named, scenarios

WITHOUT = {
    "setting-model": "its model has no rules, so it answers nothing offline",
    "structured-add-field": "its model has no rules, so it answers nothing offline",
    "missing-key-run": "without the key its reference ends in an error, as it should",
    "service-typed-word": "its service knows two words, and on all others the reference ends in an error",
    "api-two-lookups": "its service knows two words, and on all others the reference ends in an error",
    "chinese-degrees": "its service has one answer",
    "debug-starter-page": "its service has one page",
    "model-picker-why": "what it shows is a model's choice, which its probes hold",
}
"""Scenarios whose reference takes what is typed, and that declare no inputs."""

CONDITION = """
name: Condition
nodes:
  chat: ChatInput
  choice: ConditionalRouter
  answer: ChatOutput
edges:
  chat.message -> choice.input_text
  choice.true_result -> answer.input_value
config:
  choice.operator: OPERATOR
  choice.match_text: "TEXT"
"""
STEP = """
name: Step
nodes:
  chat: ChatInput
  step: TYPE
  answer: ChatOutput
edges:
  chat.message -> step.INPUT
  step.OUTPUT -> answer.input_value
config:
CONFIG
"""


def scenario(reference: str, canvas: str | None = None) -> Scenario:
    """A scenario with a reference flow, whose probe names one input."""
    return Scenario(
        id="derived",
        about="a test",
        turns=(Turn(say="Build it."),),
        canvas=canvas,
        reference=reference,
        probes=(Probe(input="code AB-1234 is urgent", contains="x"),),
        inputs=Inputs(derive=True),
    )


def families(reference: str, catalogue: Catalogue, canvas: str | None = None) -> Sequence[object]:
    """The families of a flow, without the inputs that are named and the texts of every kind."""
    flow, before = build(reference, catalogue).flow, None if canvas is None else build(canvas, catalogue).flow
    assert flow is not None
    return [*derive(scenario(reference, canvas), flow, before)][1:-1]


def condition(operator: str, text: str) -> str:
    """A flow with one condition."""
    return CONDITION.replace("OPERATOR", operator).replace("TEXT", text)


def step(kind: str, ports: str, *config: str) -> str:
    """A flow with one step."""
    entering, leaving = ports.split()
    lines = "\n".join(f"  step.{line}" for line in config)
    text = STEP.replace("TYPE", kind).replace("INPUT", entering).replace("OUTPUT", leaving)
    return text.replace("CONFIG", lines)


@pytest.mark.table
@pytest.mark.parametrize("declared", [one for one in scenarios() if one.inputs], ids=lambda one: one.id)
def test_every_scenario_has_enough_inputs_and_always_the_same(declared: Scenario, full_catalogue: Catalogue) -> None:
    if declared.components:
        pytest.skip("its component types are made by the engine")
    found = inputs_of(declared, full_catalogue)
    assert len(found) >= ENOUGH
    assert found == inputs_of(declared, full_catalogue)


def test_every_scenario_that_takes_input_declares_inputs() -> None:
    takes = {one.id for one in scenarios() if one.reference is not None and "ChatInput" in one.reference}
    assert takes - {one.id for one in scenarios() if one.inputs} == set(WITHOUT)


def test_a_scenario_without_inputs_has_none(full_catalogue: Catalogue) -> None:
    assert inputs_of(scenario_named("refuse-weather"), full_catalogue) == ()


def test_a_condition_on_a_number_has_numbers_around_its_border(full_catalogue: Catalogue) -> None:
    assert families(condition("greater than", "50"), full_catalogue) == [
        NumbersAround(kind="numbers_around", border=50.0)
    ]


def test_a_condition_on_a_word_has_matches_and_on_the_canvas_exact_ones(full_catalogue: Catalogue) -> None:
    flow = condition("contains", "urgent")
    assert families(flow, full_catalogue) == [Matches(kind="matches", examples=("urgent",))]
    assert families(flow, full_catalogue, canvas=flow) == [Matches(kind="matches", examples=("urgent",), exact=True)]


@pytest.mark.parametrize(
    ("reference", "family"),
    [
        (condition("regex", "[A-Z]+-[0-9]+"), Matches(kind="matches", examples=("AB-1234",), pattern="[A-Z]+-[0-9]+")),
        (
            step("RegexExtractorComponent", "input_text text", 'pattern: "[A-Z]+-[0-9]+"'),
            Matches(kind="matches", examples=("AB-1234",), pattern="[A-Z]+-[0-9]+"),
        ),
        (
            step("Operations", "text_input message_output", "operation: Text Head", "head_characters: 12"),
            LengthsAround(kind="lengths_around", length=12),
        ),
        (
            step("Operations", "text_input message_output", "operation: Text Replace", "search_pattern: urgent"),
            Matches(kind="matches", examples=("urgent",), exact=True),
        ),
    ],
)
def test_patterns_and_numbers_of_a_step_are_tried(reference: str, family: object, full_catalogue: Catalogue) -> None:
    assert families(reference, full_catalogue) == [family]


def test_a_splitter_has_lists_by_its_separator(full_catalogue: Catalogue) -> None:
    found = families(scenario_named("debug-loop-shortcut").reference or "", full_catalogue)
    assert Lists(kind="lists", separator=",") in found


def test_a_memory_has_conversations(full_catalogue: Catalogue) -> None:
    found = inputs_of(scenario_named("memory-build"), full_catalogue)
    assert any(each.earlier for each in found)
