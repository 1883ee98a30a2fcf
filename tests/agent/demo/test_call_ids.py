"""The ids of the demo planner's tool calls: unique within a conversation, the same in every play of it."""

import pytest
from pydantic_ai import ModelResponse, ToolApproved, ToolCallPart

from agent.assistant import Assistant
from agent.conversation.memory import TURNS
from agent.settings import AssistantSettings
from agent.turn.result import TurnResult
from flows.catalogue import Catalogue
from tests.shared.flow_texts import ECHO, LOUDER, flow_of
from tests.shared.scripted_assistant import play
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


def ids(result: TurnResult) -> list[str]:
    responses = [message for message in result.messages if isinstance(message, ModelResponse)]
    return [part.tool_call_id for message in responses for part in message.parts if isinstance(part, ToolCallPart)]


def demo(catalogue: Catalogue) -> Assistant:
    return Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)


async def conversation_ids(catalogue: Catalogue, turns: int) -> list[str]:
    assistant = demo(catalogue)
    results = [await play(assistant, "run it with hello", flow_of(ECHO, catalogue)) for _ in range(turns)]
    await assistant.aclose()
    return [call for result in results for call in ids(result)]


async def test_no_id_repeats_in_a_conversation_longer_than_what_is_remembered(catalogue: Catalogue) -> None:
    found = await conversation_ids(catalogue, TURNS + 2)
    assert len(set(found)) == len(found) == TURNS + 2
    assert await conversation_ids(catalogue, TURNS + 2) == found, "they are the same in every play"


async def test_a_resumed_turn_keeps_the_id_that_was_asked_about_and_the_next_turn_has_another(
    catalogue: Catalogue,
) -> None:
    assistant, canvas = demo(catalogue), flow_of(LOUDER, catalogue)
    request = "Change the prompt to '{}: {{text}}'"
    waiting = await play(assistant, request.format("Sing"), canvas)
    (asked,) = waiting.approvals
    done = await play(assistant, "", canvas, answers={asked: ToolApproved()})
    assert done.outcome == "complete"
    first, *further = ids(done)
    assert first == asked
    again = await play(assistant, request.format("Whisper"), done.after)
    await assistant.aclose()
    assert {asked, *further}.isdisjoint(again.approvals)
