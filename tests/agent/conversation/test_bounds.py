"""Ten turns and a hundred conversations bound what is quoted to a model, and never an approval that waits."""

import json

import pytest
from pydantic_ai import ToolApproved

from agent.assistant import Assistant
from agent.conversation.memory import SESSIONS, TURNS, ConversationState, Exchange
from agent.models.scripted import call
from agent.settings import AssistantSettings
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, play
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio
QUESTION = json.dumps({"intent": "question", "reply": "other"})


def opened(catalogue: Catalogue, kept: str, canvas: Flow, *between: str) -> tuple[Assistant, ScriptedModel]:
    """An assistant whose model changes a text, answers in between, and goes on."""
    values = {"template": "Whisper: {text}"}
    change = call("configure_component", 1, component_id=node_id(canvas, "Prompt Template"), values=values)
    model = ScriptedModel("build_flow", change, *between, "I changed the prompt.")
    settings = AssistantSettings.model_validate({"memory": kept})
    return Assistant(settings, StandInRunner(), catalogue=catalogue, model=model), model


@pytest.mark.parametrize("kept", ["process", "file"])
async def test_an_approval_waits_for_longer_than_turns_are_quoted(kept: str, catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    answers = [text for number in range(TURNS + 2) for text in (QUESTION, f"Answer {number}.")]
    who, model = opened(catalogue, kept, canvas, *answers)
    waiting = await play(who, "Make the prompt whisper", canvas)
    for number in range(TURNS + 2):
        assert (await play(who, f"Question {number}, why?", canvas)).outcome == "pending"
    last = model.prompts[-1]
    assert (last.count("Answer "), "Question 0" in last, "Make the prompt whisper" in last) == (TURNS, False, False)
    result = await play(who, "", canvas, answers={next(iter(waiting.approvals)): ToolApproved()})
    assert (result.outcome, result.text) == ("complete", "I changed the prompt.")
    await who.aclose()


@pytest.mark.parametrize("kept", ["process", "file"])
async def test_an_approval_waits_while_more_conversations_are_held_than_are_quoted(
    kept: str, catalogue: Catalogue
) -> None:
    canvas = flow_of(LOUDER, catalogue)
    who, _ = opened(catalogue, kept, canvas)
    waiting = await play(who, "Make the prompt whisper", canvas, session="first")
    for number in range(SESSIONS + 1):
        other = ConversationState()
        other.record(Exchange(user="Hello", assistant="Hello."))
        await who.memory.save("local", f"other-{number}", other)
    assert list(await who.pending("local", "first")) == list(waiting.approvals)
    answers = {next(iter(waiting.approvals)): ToolApproved()}
    result = await play(who, "", canvas, session="first", answers=answers)
    assert (result.outcome, result.text) == ("complete", "I changed the prompt.")
    await who.aclose()
