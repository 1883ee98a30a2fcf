"""The log of a turn: plans, cached reads and steps are told, and content stays out unless the user consents."""

import logging

import pytest
from pydantic_ai import ToolDenied

from agent.assistant import Assistant
from agent.models.scripted import call
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from flows.catalogue import Catalogue
from runtime.telemetry import LOGGER, event_fields
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, play, play_all, scripted_assistant
from tests.shared.stand_ins import StandInRunner
from tools.events import Progress

pytestmark = pytest.mark.anyio
PLAN = call("propose_plan", 1, markdown="1. Read")


def logged(caplog: pytest.LogCaptureFixture, name: str) -> list[dict[str, object]]:
    """The fields of every event of a name."""
    return [event_fields(record) for record in caplog.records if record.msg == name]


async def test_a_refinement_and_a_new_plan_are_logged(catalogue: Catalogue, caplog: pytest.LogCaptureFixture) -> None:
    other = call("propose_plan", 1, markdown="2. Write")
    who, _ = scripted_assistant(catalogue, "build_flow", PLAN, "What else?", "build_flow", other)
    waiting = await play(who, "Build something large", session="s")
    await play(who, "", session="s", answers=dict.fromkeys(waiting.approvals, ToolDenied()))
    with caplog.at_level(logging.INFO):
        await play(who, "Use Claude", session="s")
    assert logged(caplog, "assistant.plan.refining.send") == [
        {"session_id": "s", "stash_length": len("1. Read"), "refinement_length": len("Use Claude")}
    ]
    assert logged(caplog, "assistant.plan.replan") == [{"session_id": "s"}]


async def test_cached_reads_are_logged_without_their_arguments(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    describe = [call("describe_component", step, type="ChatInput") for step in (1, 2)]
    who, _ = scripted_assistant(catalogue, "build_flow", *describe, call("build_flow", 3, spec=ECHO), "I built it.")
    with caplog.at_level(logging.INFO):
        await play(who, "Build an echo")
    assert logged(caplog, "assistant.tool_cache.miss") == [{"tool": "describe_component"}]
    [hit] = logged(caplog, "assistant.tool_cache.hit")
    assert (hit["tool"], len(str(hit["key_hash"]))) == ("describe_component", 8)


@pytest.mark.parametrize(
    ("intent", "text", "step"),
    [
        ("build_flow", "Build an echo", ("generating_flow", "Generating flow...")),
        ("build_flow", "Build an echo and run it", ("orchestrating", "Orchestrating...")),
        ("build_flow", "Add a prompt, connect it to b and set its text", ("orchestrating", "Orchestrating...")),
        ("component_then_flow", "Write a doubler and use it", ("orchestrating", "Orchestrating...")),
        ("generate_component", "Write a doubler", ("generating_component", "Generating component...")),
        ("manage_files", "Write a note", ("generating_document", "Generating document...")),
    ],
)
async def test_the_step_that_is_shown_follows_the_request(
    catalogue: Catalogue, intent: str, text: str, step: tuple[str, str]
) -> None:
    who, _ = scripted_assistant(catalogue, intent, "Nothing.", "Nothing.")
    events, _ = await play_all(who, text)
    shown = [(event.step, event.message) for event in events if isinstance(event, Progress)]
    assert step in shown


@pytest.mark.parametrize("consent", [False, True])
async def test_content_is_logged_only_with_consent(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture, consent: bool
) -> None:
    settings = AssistantSettings(trace_content=consent)
    who = Assistant(settings, StandInRunner(), catalogue=catalogue, model=ScriptedModel("question", "Stripes."))
    async with who.turn(TurnRequest(text="What about zebras?")) as events:
        _ = [event async for event in events]
    logged = {record.getMessage(): event_fields(record) for record in caplog.records if record.name == LOGGER}
    assert logged["assistant.request.started"]["characters"] == len("What about zebras?")
    assert ("zebras" in str(logged)) == consent


async def test_an_abandoned_turn_is_logged_as_cancelled_once(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = ScriptedModel("question", "Never said.", blocks_at=1)
    who = Assistant(AssistantSettings(), StandInRunner(), catalogue=catalogue, model=blocked)
    stream = who.turn(TurnRequest(text="What is it?"))
    await anext(aiter(stream))
    await blocked.blocked.wait()
    await stream.aclose()
    logged = [record.getMessage() for record in caplog.records if record.name == LOGGER]
    assert logged.count("assistant.request.cancelled") == 1
    assert "assistant.request.completed" not in logged
