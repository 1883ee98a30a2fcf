"""The components that the demo planner writes: its own guard lets them pass, and they are what was asked for."""

import pytest

from agent.demo.exact.components import component, wants_component
from agent.demo.exact.language import take_apart
from agent.demo.planner import demo_intent
from runtime.guard import scan


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Create a custom component that reverses text", "TextReverser"),
        ("write me a component that counts vowels", "VowelCounter"),
        ("generate a component that makes a slug from a title", "Slugifier"),
        ("Build a component that sorts the lines of a text", "LineSorter"),
        ("I need a component that removes duplicate lines", "LineDeduplicator"),
    ],
)
def test_a_component_is_written_that_the_guard_lets_pass(message: str, name: str) -> None:
    written = component(take_apart(message))
    assert written is not None
    assert written.name == name
    assert f"class {name}(Component)" in written.source
    assert scan(written.source) == []
    assert demo_intent(message) == "generate_component"


def test_a_flow_around_it_is_noticed() -> None:
    message = "Create a component that reverses text and build a flow that uses it"
    written = component(take_apart(message))
    assert written is not None
    assert written.in_flow
    assert demo_intent(message) == "component_then_flow"


def test_one_that_no_rule_covers_is_not_written() -> None:
    request = take_apart("Create a component that predicts the stock market")
    assert wants_component(request)
    assert component(request) is None


def test_using_a_component_that_is_there_asks_for_none() -> None:
    assert not wants_component(take_apart("Build a flow with the Prompt Template"))
    assert demo_intent("Which component reads a file?") == "question"
