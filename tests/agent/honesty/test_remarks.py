"""What a model says before it calls tools is told in its place; its answer is held back until it has been checked."""

import pytest
from pydantic_ai import CustomEvent, FunctionToolCallEvent, PartStartEvent, TextPart

from agent.honesty.remarks import Remark
from agent.models.scripted import call
from agent.turn.request import TurnRequest
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio


async def told(model: ScriptedModel, catalogue: Catalogue, text: str) -> list[str]:
    """Remarks and calls of a turn, in order."""
    found: list[str] = []
    async with assistant(catalogue, model).turn(TurnRequest(text=text)) as events:
        async for event in events:
            if isinstance(event, Remark):
                found = [*found, event.chunk] if event.is_new else [*found[:-1], found[-1] + event.chunk]
            elif isinstance(event, FunctionToolCallEvent):
                found.append(event.part.tool_name)
            else:
                assert isinstance(event, CustomEvent) or not isinstance(event, PartStartEvent)
    return found


async def test_remarks_stand_between_the_calls_and_the_answer_is_none(catalogue: Catalogue) -> None:
    first = "First I look for what can take a message apart, and then I put that on the canvas."
    model = ScriptedModel(
        "build_flow",
        [TextPart(first), call("search_components", 1, query="split")],
        [TextPart("Now I add it."), call("add_component", 2, type="SplitText")],
        "I added the splitter.",
    )
    assert await told(model, catalogue, "Add a splitter") == [
        first,
        "search_components",
        "Now I add it.",
        "add_component",
    ]


async def test_a_response_without_calls_is_an_answer_of_which_nothing_is_told_before_it_is_checked(
    catalogue: Catalogue,
) -> None:
    model = ScriptedModel(
        "build_flow", "I added the splitter.", call("add_component", 1, type="SplitText"), "I added it."
    )
    assert await told(model, catalogue, "Add a splitter") == ["add_component"]
