"""Changes that name a place or a purpose, as the demo planner understands them."""

import pytest

from agent.assistant import Assistant
from agent.demo.planner import demo_intent
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.flow_texts import BARE_ECHO, flow_of
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio

AGENT = """
name: Helper
nodes:
  chat: ChatInput
  helper: Agent
  answer: ChatOutput
edges:
  chat.message -> helper.input_value
  helper.response -> answer.input_value
config:
  helper.model: openai:gpt-4o-mini
"""


async def ask(catalogue: Catalogue, text: str, flow: Flow) -> TurnResult:
    who = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)
    async with who.turn(TurnRequest(text=text, flow=flow, apply="always")) as stream:
        events = [event async for event in stream]
    await who.aclose()
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


def types_along(found: Flow) -> list[str]:
    """The component types from the chat input on, along the connections."""
    kinds = {node.id: node.type for node in found.nodes}
    at = next(node.id for node in found.nodes if node.type == "ChatInput")
    path = [kinds[at]]
    while following := [edge.target for edge in found.edges if edge.source == at]:
        at = following[0]
        path.append(kinds[at])
    return path


@pytest.mark.parametrize(
    "text",
    [
        "Add a prompt template before the chat output with the template 'Hi {name}!'",
        "insert a Prompt Template right after the chat input",
        "put a prompt template after Chat Input",
    ],
)
async def test_a_component_goes_before_or_after_another(text: str, catalogue: Catalogue) -> None:
    assert demo_intent(text) == "build_flow"
    result = await ask(catalogue, text, flow_of(BARE_ECHO, catalogue))
    assert types_along(result.after) == ["ChatInput", "Prompt Template", "ChatOutput"]


@pytest.mark.parametrize(
    "text",
    ["Add a calculator tool to the agent", "give the agent a calculator", "attach a Calculator as a tool to the agent"],
)
async def test_a_tool_is_added_and_wired_to_the_agent(text: str, catalogue: Catalogue) -> None:
    result = await ask(catalogue, text, flow_of(AGENT, catalogue))
    new = result.after.nodes[-1]
    assert new.type == "CalculatorComponent"
    assert [(e.source_port, e.target_port) for e in result.after.edges if e.source == new.id] == [
        ("component_as_tool", "tools")
    ]


@pytest.mark.parametrize("text", ["Use gpt-4o instead", "switch to openai:gpt-4o", "change the model to gpt-4o"])
async def test_another_model_is_chosen(text: str, catalogue: Catalogue) -> None:
    result = await ask(catalogue, text, flow_of(AGENT, catalogue))
    agent = next(node for node in result.after.nodes if node.type == "Agent")
    assert "gpt-4o" in str(agent.value("model"))
    assert "mini" not in str(agent.value("model"))


async def test_a_place_that_is_not_clear_is_asked_about_and_nothing_changes(catalogue: Catalogue) -> None:
    canvas = flow_of(BARE_ECHO, catalogue)
    result = await ask(catalogue, "add a prompt template before the chat input", canvas)
    assert result.after == canvas
    assert "say between which two" in result.text


@pytest.mark.parametrize(
    "text", ["put a translator to Japanese after the agent", "add a summary before the chat output"]
)
async def test_a_step_that_is_named_by_what_it_does_tells_its_model_so(text: str, catalogue: Catalogue) -> None:
    result = await ask(catalogue, text, flow_of(AGENT, catalogue))
    new = result.after.nodes[-1]
    assert types_along(result.after) == ["ChatInput", "Agent", "LanguageModelComponent", "ChatOutput"]
    assert ("Translate" if "translator" in text else "Summar") in str(new.value("system_message"))
    assert "gpt-4o-mini" in str(new.value("model"))
