"""Tools of the client: their calls wait in the message, and its next request brings what they gave."""

from typing import Any

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.server.live import serving
from tests.server.routes.aisdk.chats import Chat
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
WEATHER: dict[str, Any] = {
    "name": "get_location",
    "description": "Where the user is.",
    "parameters": {"type": "object", "properties": {"exact": {"type": "boolean"}}},
}
ASK = call("get_location", 1, exact=True)


def part_of(chat: Chat) -> dict[str, Any]:
    [part] = [part for part in chat.messages[-1]["parts"] if part.get("toolCallId") == ASK.tool_call_id]
    return part


async def asked(chat: Chat) -> list[dict[str, Any]]:
    return await chat.say("Where am I?")


@pytest.mark.parity("aisdk-client-tools")
async def test_a_call_of_a_clients_tool_waits_for_its_result(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", [ASK], "You are in Rome.")
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client, body={"tools": [WEATHER]})
        seen = await asked(chat)
        called = [chunk for chunk in seen if chunk["type"] == "tool-input-available"]
        part_of(chat).update(state="output-available", output={"city": "Rome"})
        done = await chat.answer()
    assert called == [
        {
            "type": "tool-input-available",
            "toolCallId": ASK.tool_call_id,
            "toolName": "get_location",
            "input": {"exact": True},
        }
    ]
    assert seen[-1]["finishReason"] == "tool-calls"
    assert not [chunk for chunk in seen if chunk["type"] == "tool-approval-request"]
    assert done[0]["messageId"] == seen[0]["messageId"]
    assert "Rome" in str(model.requests[-1])
    assert "You are in Rome." in chat.text


@pytest.mark.parity("aisdk-add-tool-output")
async def test_a_tool_that_failed_says_so_to_the_model(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", [ASK], "I cannot tell.")
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client, body={"tools": [WEATHER]})
        await asked(chat)
        part_of(chat).update(state="output-error", errorText="not allowed")
        await chat.answer()
    assert "not allowed" in str(model.requests[-1])


async def test_a_result_is_taken_once_and_another_is_refused(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", [ASK], "You are in Rome.")
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client, body={"tools": [WEATHER]})
        await asked(chat)
        part_of(chat).update(state="output-available", output="Rome", toolCallId="another")
        assert await chat.refused() == (409, "nothing_pending")
        chat.messages[-1]["parts"][-1]["toolCallId"] = ASK.tool_call_id
        sent = chat.request(messageId=chat.messages[-1]["id"])
        assert (await live.client.post("/api/chat", json=sent)).status_code == 200
        again = await live.client.post("/api/chat", json=sent)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "nothing_pending")


async def test_a_yes_is_no_result(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", [ASK])
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client, body={"tools": [WEATHER]})
        await asked(chat)
        part_of(chat).update(state="approval-responded", approval={"id": ASK.tool_call_id, "approved": True})
        assert await chat.refused() == (409, "unknown_approval")


async def test_a_tool_of_ours_is_not_replaced(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel())) as live:
        chat = Chat(live.client, body={"tools": [{**WEATHER, "name": "run_flow"}]})
        chat.messages.append({"id": "u", "role": "user", "parts": [{"type": "text", "text": "Run"}]})
        status, _ = await chat.refused()
    assert status == 422
