"""Images and binary files over HTTP, on the real engine: a flow's model sees them; what it writes is a link."""

from typing import Any

import pytest

from agent.assistant import Assistant
from agent.models.scripted import call
from server.settings import ServerSettings
from tests.server.live import Live, events, serving
from tests.shared import documents
from tests.shared.photos import PNG, REQUEST, SEES, images, looking
from tests.shared.scripted_assistant import ScriptedModel

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

COPIES = """name: Copies
nodes:
  file: File
  save: SaveToFile
  answer: ChatOutput
edges:
  file.dataframe -> save.input
  save.message -> answer.input_value
config:
  file.path: [hours.xlsx]
  save.file_name: copy
  save.local_format: excel
"""


async def said(live: Live, **request: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The events of a streamed turn, and what the last one says."""
    found = await events(live.client, session_id="s", **request)
    assert found[-1]["event"] == "complete", found[-1]
    return found, found[-1]["data"]


async def test_an_uploaded_image_is_seen_by_the_model_of_a_flow(warm_engine: None) -> None:
    model = looking()
    async with Assistant.open(ServerSettings(), model=model) as who, serving(who) as live:
        uploaded = await live.client.post("/api/v1/files", files=[("file", ("photo.png", PNG))])
        assert uploaded.status_code == 201
        _, done = await said(live, input_value=REQUEST, files=["photo.png"])
    assert done["run"]["output"] == SEES
    assert [PNG] in [images(request) for request in model.requests]


async def test_a_workbook_that_a_flow_writes_is_a_link(warm_engine: None) -> None:
    model = ScriptedModel("build_flow", call("build_flow", 1, spec=COPIES), call("run_flow", 2), "It is copied.")
    async with Assistant.open(ServerSettings(), model=model) as who, serving(who) as live:
        workbook = documents.workbook([["day", "opens"], ["Monday", "nine"]])
        await live.client.post("/api/v1/files", files=[("file", ("hours.xlsx", workbook))])
        found, done = await said(
            live, input_value="Build a flow that copies the workbook, and run it", files=["hours.xlsx"]
        )
        [written] = [event for event in found if event["event"] == "file_written"]
        assert (written["path"], written["content"], written["action"]) == ("copy.xlsx", "", "run_flow")
        content = await live.client.get(written["url"])
    assert content.status_code == 200
    assert content.headers["content-type"] == "application/octet-stream"
    assert "attachment" in content.headers["content-disposition"]
    assert content.content.startswith(b"PK")
    assert len(content.content) == written["size"]
    assert done["record"]["files"] == [{"path": "copy.xlsx", "change": "created"}]
