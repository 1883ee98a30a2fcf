"""What waits for the user's decision, in all conversations."""

from datetime import UTC, datetime, timedelta

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from runtime.accounts.scopes import scopes_of
from runtime.files.folders import LOCAL_USER
from tests.server.live import FLOWS, events, serving
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
WAITING = "/api/v1/agentic/approvals"


async def test_what_waits_is_listed_withdrawn_when_the_flow_moved_on_and_expires(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    node = node_id(canvas, "Prompt Template")
    change = call("configure_component", 1, component_id=node, values={"template": "Whisper: {text}"})
    model = ScriptedModel("build_flow", [change], "I left it as it is.")
    async with serving(assistant(catalogue, model)) as live:
        stored = (await live.client.post(FLOWS, json=canvas.to_json())).json()
        assert (await live.client.get(WAITING)).json() == {"conversations": []}
        asked = await events(live.client, input_value="Whisper", session_id="s", flow_id=stored["id"])
        [approval] = asked[-1]["data"]["approvals"]
        [waits] = (await live.client.get(WAITING)).json()["conversations"]
        assert (waits["session_id"], waits["flow_id"], waits["withdrawn"]) == ("s", stored["id"], [])
        assert [one["id"] for one in waits["questions"]] == [approval["id"]]
        other = flow_of(LOUDER.replace("Say it louder", "Say it twice"), catalogue).to_json()
        await live.client.put(f"{FLOWS}/{stored['id']}", json=other, headers={"If-Match": '"1"'})
        [waits] = (await live.client.get(WAITING)).json()["conversations"]
        assert waits["withdrawn"] == [approval["id"]]
        answer = {approval["id"]: {"decision": "approve"}}
        done = await events(live.client, session_id="s", flow_id=stored["id"], approvals=answer)
        assert done[-1]["data"]["actions"] == 0
        assert (await live.client.get(WAITING)).json() == {"conversations": []}


async def test_a_question_that_has_waited_too_long_is_withdrawn(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    node = node_id(canvas, "Prompt Template")
    change = call("configure_component", 1, component_id=node, values={"template": "Whisper: {text}"})
    who = assistant(catalogue, ScriptedModel("build_flow", [change]))
    async with serving(who) as live:
        asked = await events(live.client, input_value="Whisper", session_id="s", flow=canvas.to_json())
        [approval] = asked[-1]["data"]["approvals"]
        state = await who.memory.load(LOCAL_USER, "s")
        state.updated_at = "2026-01-01T00:00:00+00:00"
        await who.memory.save(LOCAL_USER, "s", state)
        assert (await live.client.get(WAITING)).json() == {"conversations": []}
        answer = {approval["id"]: {"decision": "approve"}}
        late = await events(live.client, session_id="s", flow=canvas.to_json(), approvals=answer)
        assert (late[-1]["event"], late[-1]["code"]) == ("error", "nothing_pending")


@pytest.mark.parametrize(("days", "kept"), [(89, True), (91, False)])
async def test_a_question_is_kept_for_90_days_for_its_user_alone(catalogue: Catalogue, days: int, kept: bool) -> None:
    canvas = flow_of(LOUDER, catalogue)
    node = node_id(canvas, "Prompt Template")
    change = call("configure_component", 1, component_id=node, values={"template": "Whisper: {text}"})
    who = assistant(catalogue, ScriptedModel("build_flow", [change]))
    async with serving(who) as live:
        assert live.access.users is not None
        _, token = await live.access.users.add("bob", scopes_of(("build", "run")))
        theirs = {"Authorization": f"Bearer {token}"}
        asked = await events(live.client, input_value="Whisper", session_id="s", flow=canvas.to_json())
        [approval] = asked[-1]["data"]["approvals"]
        state = await who.memory.load(LOCAL_USER, "s")
        state.updated_at = (datetime.now(UTC) - timedelta(days=days)).isoformat()
        await who.memory.save(LOCAL_USER, "s", state)
        waiting = (await live.client.get(WAITING)).json()["conversations"]
        assert [one["questions"][0]["id"] for one in waiting] == ([approval["id"]] if kept else [])
        assert (await live.stranger.get(WAITING, headers=theirs)).json() == {"conversations": []}
        assert (await live.stranger.post(f"{WAITING}/s/withdraw", headers=theirs)).status_code == 404


async def test_a_question_is_taken_back_and_nothing_of_it_is_done(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    node = node_id(canvas, "Prompt Template")
    change = call("configure_component", 1, component_id=node, values={"template": "Whisper: {text}"})
    who = assistant(catalogue, ScriptedModel("build_flow", [change]))
    async with serving(who) as live:
        asked = await events(live.client, input_value="Whisper", session_id="a/b", flow=canvas.to_json())
        [approval] = asked[-1]["data"]["approvals"]
        done = await live.client.post(f"{WAITING}/a%2Fb/withdraw")
        assert (done.status_code, done.json()) == (200, {"session_id": "a/b", "withdrawn": 1})
        assert (await live.client.get(WAITING)).json() == {"conversations": []}
        again = await live.client.post(f"{WAITING}/a%2Fb/withdraw")
        assert (again.status_code, again.json()["error"]["code"]) == (404, "nothing_pending")
        assert (await who.memory.load(LOCAL_USER, "a/b")).pending is None
        answer = {approval["id"]: {"decision": "approve"}}
        late = await events(live.client, session_id="a/b", flow=canvas.to_json(), approvals=answer)
        assert (late[-1]["event"], late[-1]["code"]) == ("error", "nothing_pending")
