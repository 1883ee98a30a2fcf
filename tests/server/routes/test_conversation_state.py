"""How a conversation stands, over HTTP: what another client needs to go on with it."""

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.database.database import Database
from server.settings import ServerSettings
from server.store.turn_rows import SqlTurns
from server.store.turns import NewEvents, SteadyClock
from tests.server.live import events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
PATH = "/api/v1/conversations"


async def test_what_waits_is_told_as_it_was_asked_until_it_is_answered(catalogue: Catalogue, echo: JsonObject) -> None:
    plan = call("propose_plan", 1, markdown="# A plan\n\n1. Add an input.")
    build = [call("add_component", 2, type="ChatInput")]
    script = ScriptedModel("build_flow", plan, build, "Added it.")
    async with serving(assistant(catalogue, script)) as live:
        said = {"input_value": "Build it", "flow": echo, "session_id": "s", "keep_canvas": True}
        asked = (await events(live.client, **said))[-1]["data"]
        waits = (await live.client.get(f"{PATH}/s/state")).json()
        answer = {"approvals": {asked["approvals"][0]["id"]: {"decision": "approve"}}, "session_id": "s"}
        ended = (await events(live.client, **answer, flow=waits["canvas"], keep_canvas=True))[-1]["data"]
        after = (await live.client.get(f"{PATH}/s/state")).json()
    assert waits["approvals"] == asked["approvals"]
    assert (waits["running"], waits["proposal"], waits["canvas"], waits["language"]) == (False, None, echo, "en")
    assert (after["approvals"], after["canvas"]) == ([], ended["flow"])


async def test_a_canvas_is_kept_only_when_it_is_asked_for(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", "One."))) as live:
        await events(live.client, input_value="What is it?", flow=echo, session_id="s")
        state = (await live.client.get(f"{PATH}/s/state")).json()
        missing = await live.client.get(f"{PATH}/other/state")
    assert (state["canvas"], state["proposal_id"]) == (None, None)
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "conversation_not_found")


async def test_a_conversation_whose_turn_runs_on_another_server_is_neither_taken_back_nor_deleted(
    catalogue: Catalogue,
) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", "One."))) as live:
        await events(live.client, input_value="What is it?", session_id="s")
        message = (await live.client.get(f"{PATH}/s")).json()["messages"][0]["id"]
        settings = ServerSettings()
        database = Database(settings.database_url, settings.data)
        elsewhere = SqlTurns(database, "elsewhere", 60, SteadyClock())
        assert await elsewhere.reserve("local", "t", "s")
        refused = [
            await live.client.post(f"{PATH}/s/rewind", json={"message": message}),
            await live.client.delete(f"{PATH}/s"),
        ]
        await elsewhere.append([NewEvents("local", "t", "s", False, 1, [b'{"event":"cancelled"}'], "cancelled")])
        done = await live.client.post(f"{PATH}/s/rewind", json={"message": message})
        await database.aclose()
    assert [(one.status_code, one.json()["error"]["code"]) for one in refused] == [(409, "runs_elsewhere")] * 2
    assert (done.status_code, done.json()["removed"]) == (200, 1)
