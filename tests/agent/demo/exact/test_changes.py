"""Compound changes and starter flows, as the demo planner understands them."""

from typing import Any

import pytest

from agent.assistant import Assistant
from agent.demo.planner import demo_intent
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from tests.shared.flow_texts import BARE_ECHO
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


async def ask(catalogue: Catalogue, text: str, flow: Flow) -> TurnResult:
    who = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)
    async with who.turn(TurnRequest(text=text, flow=flow, apply="always")) as stream:
        events = [event async for event in stream]
    await who.aclose()
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


@pytest.fixture
def echo(catalogue: Catalogue) -> Flow:
    flow = build(BARE_ECHO, catalogue).flow
    assert flow is not None
    return flow


async def test_a_component_is_put_between_two_others(catalogue: Catalogue, echo: Flow) -> None:
    text = "Insert a Prompt Template between the chat input and the chat output with the template 'Hi {name}!'"
    result = await ask(catalogue, text, echo)
    assert result.after is not None
    new = result.after.nodes[-1]
    assert new.value("template") == "Hi {name}!"
    assert [edge.text for edge in result.after.edges] == [
        f"{echo.nodes[0].id}.message -> {new.id}.name",
        f"{new.id}.prompt -> {echo.nodes[1].id}.input_value",
    ]


@pytest.mark.parametrize(
    ("text", "kinds", "types"),
    [
        (
            "Replace Chat Input with Text Input",
            ["remove_component", "add_component", "connect"],
            ["TextInput", "ChatOutput"],
        ),
        ("rename chat output to 'Final answer'", ["amend"], ["ChatInput", "ChatOutput"]),
        ("Duplicate the chat output", ["add_component"], ["ChatInput", "ChatOutput", "ChatOutput"]),
    ],
)
async def test_a_change_in_plain_words_is_done(
    text: str, kinds: list[str], types: list[str], catalogue: Catalogue, echo: Flow
) -> None:
    assert demo_intent(text) == "build_flow"
    result = await ask(catalogue, text, echo)
    assert result.after is not None
    assert [action.kind for action in result.actions] == kinds
    assert [node.type for node in result.after.nodes] == types


async def test_a_field_may_be_named_as_the_canvas_refers_to_it(catalogue: Catalogue, echo: Flow) -> None:
    place = f"{echo.nodes[1].id}.sender_name"
    result = await ask(catalogue, f"Set '{place}' to 'Robot'", echo)
    assert result.after is not None
    assert [action.kind for action in result.actions] == ["configure"]
    assert result.after.nodes[1].value("sender_name") == "Robot"
    unnamed = await ask(catalogue, "Set 'sender_name' to 'Robot'", echo)
    assert unnamed.actions == []
    assert "Which field of 'sender_name'" in unnamed.text


async def test_a_template_is_proposed_by_name(catalogue: Catalogue) -> None:
    result = await ask(catalogue, "Use the template 'prompt-fill'", Flow.empty())
    assert result.proposal is not None
    assert result.proposal.name == "Fill a prompt"
    assert "I built 'Fill a prompt'" in result.text
    unknown = await ask(catalogue, "Use the template 'nothing'", Flow.empty())
    assert unknown.proposal is None
    assert "There is no template 'nothing'" in unknown.text


@pytest.mark.parametrize("text", ["Add a second answer", "add another answer", "Add an extra Answer"])
async def test_one_more_of_what_the_canvas_calls_by_a_name_is_one_of_its_kind(
    text: str, catalogue: Catalogue, echo: Flow
) -> None:
    named = Flow.from_json(echo.raw)
    data: Any = named.raw["data"]
    data["nodes"][1]["data"]["node"]["display_name"] = "Answer"
    result = await ask(catalogue, text, named)
    assert result.after is not None
    assert [node.type for node in result.after.nodes] == ["ChatInput", "ChatOutput", "ChatOutput"]


async def test_a_pronoun_is_no_component(catalogue: Catalogue, echo: Flow) -> None:
    result = await ask(catalogue, "put it on the canvas", echo)
    assert result.actions == []
    assert result.after == echo


@pytest.mark.parametrize(
    "text",
    [
        "add a prompt between them that says 'You said: {text}'",
        "Add a new prompt template with the text 'You said: {text}'",
        'füge dazwischen einen Prompt "You said: {text}" ein',
        'Füge einen Prompt hinzu: "You said: {text}"',
        'ajoute un prompt qui dit "You said: {text}"',
    ],
)
async def test_a_prompt_that_is_added_with_its_words_is_connected_and_says_them(
    text: str, catalogue: Catalogue, echo: Flow
) -> None:
    result = await ask(catalogue, text, echo)
    assert result.after is not None
    new = result.after.nodes[-1]
    assert (new.type, new.value("template")) == ("Prompt Template", "You said: {text}")
    assert [edge.text for edge in result.after.edges] == [
        f"{echo.nodes[0].id}.message -> {new.id}.text",
        f"{new.id}.prompt -> {echo.nodes[1].id}.input_value",
    ]


@pytest.mark.parametrize("text", ["add a branch: 'thanks' gets 'You are welcome'", "add a text input that reads 'x y'"])
async def test_nothing_is_added_when_the_quoted_words_would_be_dropped(
    text: str, catalogue: Catalogue, echo: Flow
) -> None:
    result = await ask(catalogue, text, echo)
    assert result.after is None or result.after == echo
    assert not result.actions


async def test_a_prompt_without_variables_is_not_connected_through_its_hidden_field(
    catalogue: Catalogue, echo: Flow
) -> None:
    added = await ask(catalogue, "add a prompt template", echo)
    assert added.after is not None
    result = await ask(catalogue, "connect the chat input to the prompt template", added.after)
    assert not result.actions
    assert "fits a free input" in result.text


@pytest.mark.parametrize(
    "text",
    [
        "put a prompt between the input and the output",
        "Insert a prompt template between chat input and chat output",
        "put a prompt between the nodes",
        "add a prompt in between",
        "add a prompt template in the middle",
        "insert a prompt between the two components",
    ],
)
async def test_a_prompt_without_words_passes_on_what_it_is_given(text: str, catalogue: Catalogue, echo: Flow) -> None:
    result = await ask(catalogue, text, echo)
    new = result.after.nodes[-1]
    assert (new.type, new.value("template")) == ("Prompt Template", "{text}")
    assert [edge.text for edge in result.after.edges] == [
        f"{echo.nodes[0].id}.message -> {new.id}.text",
        f"{new.id}.prompt -> {echo.nodes[1].id}.input_value",
    ]


@pytest.mark.parametrize(
    "text", ["change the instructions of the agent to 'Be polite.'", "set the instructions to 'Be polite.'"]
)
async def test_a_field_is_named_by_a_word_of_its_label(text: str, catalogue: Catalogue) -> None:
    flow = build("nodes:\n  one: ChatInput\n  two: Agent\nedges:\n  one.message -> two.input_value\n", catalogue).flow
    assert flow is not None
    result = await ask(catalogue, text, flow)
    assert result.after.nodes[1].value("system_prompt") == "Be polite.", result.text
