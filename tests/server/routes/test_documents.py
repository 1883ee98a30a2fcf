"""A user's document over HTTP: uploaded, named in a turn, ingested and answered from on the real engine."""

from typing import Any

import pytest

from agent.assistant import Assistant
from server.settings import ServerSettings
from tests.server.live import Live, events, serving
from tests.shared import handbook
from tests.shared.handbook import AGAIN, OPENS, REMEMBERED, REQUEST

pytestmark = [pytest.mark.anyio, pytest.mark.engine]


async def take(live: Live, **request: object) -> Any:
    """The data of a turn's last event."""
    found = await events(live.client, session_id="talk", **request)
    assert found[-1]["event"] == "complete", found[-1]
    return found[-1]["data"]


async def test_an_uploaded_document_is_answered_from_and_a_second_run_remembers(
    warm_engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    async with handbook.provider().serve() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
        settings = ServerSettings(model="openai-chat:words")
        async with Assistant.open(settings) as assistant, serving(assistant, settings) as live:
            uploaded = await live.client.post("/api/v1/files", files=[("file", ("handbook.pdf", handbook.PDF))])
            assert uploaded.status_code == 201
            [path] = [file["path"] for file in uploaded.json()["files"]]
            stored = await live.client.post(
                "/api/v1/flows", json={"name": "Office", "data": {"nodes": [], "edges": []}}
            )
            flow = stored.json()["id"]
            first = await take(live, input_value=REQUEST, files=[path], flow_id=flow)
            assert first["run"]["output"] == OPENS
            second = await take(live, input_value=AGAIN, flow_id=flow)
            assert second["run"]["output"] == REMEMBERED
            run = await live.client.post(
                f"/api/v1/flows/{flow}/run", json={"input_value": "What did I ask before?", "session_id": "talk"}
            )
            assert run.json()["output"] == REMEMBERED
            names = {file["path"] for file in (await live.client.get("/api/v1/files")).json()["files"]}
    assert names == {"handbook.pdf", "vectors.json"}
