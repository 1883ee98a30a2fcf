import pytest
from flows.catalogue import Catalogue
from tests.server.live import events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant
from server.settings import ServerSettings

pytestmark = pytest.mark.anyio


async def test_smoke(catalogue: Catalogue, monkeypatch) -> None:
    monkeypatch.setenv("WIREWRIGHT_DURABLE", "1")
    model = ScriptedModel("question", "Said it.", "question", "Again.")
    async with serving(assistant(catalogue, model, memory=None)) as live:
        got = await events(live.client, input_value="What?", session_id="s")
        print([e["event"] for e in got], got[-1])
        got = await events(live.client, input_value="What?", session_id="s", turn_id="tt")
        print([e["event"] for e in got], got[-1].get("result"))
