"""What a component is, is explained in a few sentences; its fields are listed when somebody asks for them."""

from pathlib import Path

import pytest

from agent.demo.concepts import meanings
from agent.demo.concepts.meanings import concept_meaning, meaning
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.templates import templates
from runtime.install.environment import RunnerEnvironment
from tests.shared.scripted_assistant import assistant, play
from tests.shared.stand_ins import StandInRunner
from tests.shared.yaml_files import read_yaml

pytestmark = pytest.mark.anyio
MEANINGS = Path(meanings.__file__).with_suffix(".yaml")


async def said(catalogue: Catalogue, message: str) -> str:
    return (await play(assistant(catalogue, runner=StandInRunner()), message, Flow.empty())).text


@pytest.mark.parametrize("message", ["what is an agent?", "What's an Agent?", "What does the Agent do?"])
async def test_what_something_is_is_said_before_what_it_has(catalogue: Catalogue, message: str) -> None:
    text = await said(catalogue, message)
    assert text.startswith("Agent (`Agent`): An agent is a language model that works on a task by itself.")
    assert "Language Model (required)" in text
    assert "it gives Response" in text
    assert "use the template" in text
    assert "handle_parsing_errors" not in text
    assert len(text.splitlines()) <= 6


@pytest.mark.parametrize("message", ["Which fields does Agent have?", "what are the settings of the agent component?"])
async def test_fields_are_listed_when_they_are_asked_for(catalogue: Catalogue, message: str) -> None:
    assert "handle_parsing_errors" in await said(catalogue, message)


async def test_a_field_in_the_name_of_a_component_asks_for_none(catalogue: Catalogue) -> None:
    text = await said(catalogue, "What is the Chat Input?")
    assert text.startswith("Chat Input (`ChatInput`): A chat input is where a conversation with a flow begins.")
    assert "should_store_message" not in text


async def test_the_example_that_an_answer_names_can_be_asked_for(catalogue: Catalogue) -> None:
    agent = catalogue.get("Agent")
    assert agent is not None
    [name] = [one.name for one in templates() if f'"use the template {one.name}"' in meaning(agent)]
    result = await play(assistant(catalogue, runner=StandInRunner()), f"use the template {name}", Flow.empty())
    shown = result.proposal or result.after
    assert "Agent" in {node.type for node in shown.nodes}


def test_every_component_is_explained_in_a_few_plain_sentences(catalogue: Catalogue) -> None:
    for component in catalogue:
        text = meaning(component)
        assert component.display_name in text
        assert "it gives" in text or not component.outputs
        assert len(text) < 1_200, component.type


@pytest.mark.parametrize(
    ("message", "begins", "component"),
    [
        ("what is a flow?", "A flow is a program that you see", "ChatInput"),
        ("What are tools?", "A tool is what an agent may use", "Agent"),
        ("what's an embedding", "An embedding is a text turned into numbers", "EmbeddingModel"),
        ("What is a vector store?", "A vector store keeps texts", "EmbeddingModel"),
        ("what does RAG mean?", "RAG is to look up", "LanguageModelComponent"),
        ("What is MCP?", "MCP is a common way", "Agent"),
    ],
)
async def test_what_is_no_single_component_is_explained_too(
    message: str, begins: str, component: str, catalogue: Catalogue
) -> None:
    text = await said(catalogue, message)
    assert text.startswith(begins)
    assert f"(`{component}`)" in text


@pytest.mark.engine
def test_every_component_that_a_meaning_names_is_there(runner_environment: RunnerEnvironment) -> None:
    catalogue = Catalogue.load(runner_environment.catalogue)
    texts = [concept_meaning(f"what is {name}?", catalogue) for name in ("a loop", "a webhook", "a router", "memory")]
    assert all(text is not None and "Components for it:" in text for text in texts)
    named = {kind for one in read_yaml(MEANINGS)["concepts"] for kind in one["components"]}
    assert {*named, *read_yaml(MEANINGS)["components"]} <= {component.type for component in catalogue}


async def test_the_same_words_in_a_request_are_still_a_request(catalogue: Catalogue) -> None:
    result = await play(assistant(catalogue, runner=StandInRunner()), "Build a router", Flow.empty())
    assert not result.text.startswith("A router sends")
