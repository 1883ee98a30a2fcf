"""The log of a turn: content stays out of it unless the user consents."""

import pytest

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from flows.catalogue import Catalogue
from runtime.telemetry import LOGGER, event_fields
from tests.scripted_assistant import ScriptedModel
from tests.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


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
