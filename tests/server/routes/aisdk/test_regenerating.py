"""Answers made again, and messages sent otherwise: what came of the message before is taken back."""

from typing import Any

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.server.live import Live, serving
from tests.server.routes.aisdk.chats import CHAT, Chat, user
from tests.server.routes.aisdk.test_turns import kept, stored
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
ADD = call("add_component", 1, type="ChatInput")


async def said(live: Live, chat: Chat) -> list[tuple[str, str]]:
    """What the server's history has: the user's messages and their answers."""
    found = await live.client.get(f"/api/v1/conversations/{chat.id}")
    messages: list[Any] = found.json()["messages"] if found.status_code == 200 else []
    texts = [{part["kind"]: part.get("text", "") for part in message["parts"]} for message in messages]
    return [(text["user"], text.get("assistant", "")) for text in texts]


async def two_turns(live: Live) -> Chat:
    chat = Chat(live.client)
    await chat.say("One?")
    await chat.say("Two?")
    return chat


def script(*answers: str) -> ScriptedModel:
    return ScriptedModel(*(reply for answer in answers for reply in ("question", answer)))


async def test_the_last_answer_is_made_again(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, script("1", "2", "2 again"))) as live:
        chat = await two_turns(live)
        chat.messages.pop()
        await chat.send(trigger="regenerate-message")
        assert await said(live, chat) == [("One?", "1"), ("Two?", "2 again")]
    assert chat.text == "2 again"


@pytest.mark.parametrize("named", ["assistant", "user"])
async def test_an_earlier_answer_is_made_again_and_what_followed_is_gone(catalogue: Catalogue, named: str) -> None:
    async with serving(assistant(catalogue, script("1", "2", "1 again"))) as live:
        chat = await two_turns(live)
        name = chat.messages[1 if named == "assistant" else 0]["id"]
        chat.messages = chat.messages[:1]
        await chat.send(trigger="regenerate-message", messageId=name)
        assert await said(live, chat) == [("One?", "1 again")]


async def test_a_message_that_is_edited_takes_back_what_came_of_it(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, script("1", "2", "3"))) as live:
        chat = await two_turns(live)
        edited = user("Three?", name=chat.messages[2]["id"])
        chat.messages = [*chat.messages[:2], edited]
        await chat.send(messageId=edited["id"])
        assert await said(live, chat) == [("One?", "1"), ("Three?", "3")]


async def test_a_client_that_sends_one_message_makes_the_last_answer_again(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, script("1", "2", "2 again"))) as live:
        chat = await two_turns(live)
        sent = {"id": chat.id, "message": chat.messages[2], "trigger": "regenerate-message"}
        assert (await live.client.post(CHAT, json=sent)).status_code == 200
        assert await said(live, chat) == [("One?", "1"), ("Two?", "2 again")]
        refused = await live.client.post(CHAT, json={**sent, "messageId": "what?"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "message_not_found")
        assert len(await said(live, chat)) == 2


async def test_a_message_that_was_never_answered_is_just_sent(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, script("1", "2"))) as live:
        chat = Chat(live.client)
        await chat.say("One?")
        chat.messages.append(user("Two?", name="lost"))
        await chat.send(trigger="regenerate-message", messageId="lost")
        assert await said(live, chat) == [("One?", "1"), ("Two?", "2")]


async def test_messages_that_the_server_does_not_know_take_nothing_back(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, script("1", "2"))) as live:
        chat = await two_turns(live)
        chat.messages = [chat.messages[0], {**chat.messages[1], "id": "mine"}, chat.messages[2]]
        assert await chat.refused(trigger="regenerate-message", messageId="u2") == (404, "message_not_found")
        assert len(await said(live, chat)) == 2


async def test_the_flow_goes_back_with_the_message(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [ADD], "Added.", "build_flow", [ADD], "Added again.")
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live)
        chat = Chat(live.client, body={"flowId": flow})
        await chat.say("Add an input")
        chat.messages.pop()
        await chat.send(trigger="regenerate-message")
        assert (await kept(live, flow))["node_count"] == 1


async def test_a_flow_that_others_have_changed_since_stays(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [ADD], "Added.", "question", "No.")
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live)
        chat = Chat(live.client, body={"flowId": flow})
        await chat.say("Add an input")
        changed = Flow.empty("Mine").to_json()
        await live.client.put(f"/api/v1/flows/{flow}", json={"flow": changed, "version": 2})
        chat.messages.pop()
        await chat.send(trigger="regenerate-message")
        assert (await kept(live, flow))["flow"]["name"] == "Mine"


async def test_nothing_is_taken_back_when_the_request_is_refused(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, script("1", "2"))) as live:
        chat = await two_turns(live)
        chat.messages.pop()
        assert await chat.refused(trigger="regenerate-message", flowId="nope") == (404, "flow_not_found")
        assert len(await said(live, chat)) == 2
