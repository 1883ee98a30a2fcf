"""Leaving the stream of a turn, and coming back to it: from the beginning of its message."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.server.live import Live, serving
from tests.server.routes.aisdk.chats import CHAT, Chat, Chunk, chunks, types, user
from tests.server.routes.aisdk.test_turns import kept, stored
from tests.server.routes.test_approvals import whisper
from tests.shared.flow_texts import LOUDER, flow_of
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
ADD = call("add_component", 1, type="ChatInput")


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


async def some(seen: AsyncGenerator[Chunk], wanted: str) -> list[Chunk]:
    """The chunks up to the first of a type."""
    found: list[Chunk] = []
    async with aclosing(seen):
        async for chunk in seen:
            found.append(chunk)
            if chunk["type"] == wanted:
                break
    return found


async def resumed(live: Live, chat: str, **query: str) -> list[Chunk] | None:
    """The stream of a chat; None when there is none."""
    async with live.client.stream("GET", f"{CHAT}/{chat}/stream", params=query) as response:
        if response.status_code == 204:
            assert await response.aread() == b""
            return None
        assert response.status_code == 200, await response.aread()
        return [chunk async for chunk in chunks(response)]


def plain(seen: list[Chunk]) -> list[Chunk]:
    """Chunks without those that a client only sees once."""
    return [chunk for chunk in seen if not chunk.get("transient")]


async def test_nothing_runs_when_nothing_does(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", "Yes."))) as live:
        chat = Chat(live.client)
        assert await resumed(live, chat.id) is None
        await chat.say("Is it?")
        assert await resumed(live, chat.id) is None
        assert await resumed(live, "a/b%00") is None


@pytest.mark.parity("aisdk-resumable")
async def test_a_resumable_turn_is_followed_again_from_its_first_event(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [ADD], "Added it.", blocks_at=2)
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live)
        chat = Chat(live.client, id="my chat/1", body={"flowId": flow, "resumable": True}, messages=[user("Add")])
        async with live.client.stream("POST", CHAT, json=chat.request()) as response:
            before = await some(chunks(response), "tool-output-available")
        follower = asyncio.create_task(resumed(live, "my%20chat%2F1"))
        await model.blocked.wait()
        await asyncio.sleep(0.05)
        model.released.set()
        again = await follower
        assert again is not None
        assert (await kept(live, flow))["node_count"] == 1
    assert again[: len(before)] == before
    chat.take(again)
    assert "Added it." in chat.text


async def test_a_turn_ends_with_its_client_unless_it_is_resumable(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [ADD], "Added it.", blocks_at=2)
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live)
        chat = Chat(live.client, body={"flowId": flow}, messages=[user("Add")])
        async with live.client.stream("POST", CHAT, json=chat.request()) as response:
            before = await some(chunks(response), "tool-output-available")
        turn = before[0]["messageMetadata"]["turnId"]
        seen = await resumed(live, chat.id, turn=turn)
        assert seen is not None
    assert types(seen)[-1] == "abort"
    assert seen[-1]["reason"] == "The turn was cancelled, because its client was gone."


async def test_a_turn_that_has_ended_is_streamed_again_by_its_id(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", "Yes, it is."))) as live:
        chat = Chat(live.client)
        seen = await chat.say("Is it?")
        again = await resumed(live, chat.id, turn=seen[0]["messageMetadata"]["turnId"])
        assert again == seen
        assert await resumed(live, chat.id, turn="another") is None


async def test_the_stream_of_a_continued_message_has_all_of_it(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)], "I changed the prompt.")
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client, body={"flowId": await stored(live, canvas)})
        await chat.say("Whisper")
        [waits] = chat.waiting
        chat.decide(waits, approved=True)
        await chat.answer()
        done = chat.messages[-1]
        again = await resumed(live, chat.id, turn=f"{done['id']}_1")
        assert again is not None
    rebuilt = Chat(live.client, messages=[user("Whisper")])
    rebuilt.take(again)
    assert rebuilt.messages[-1]["id"] == done["id"]
    assert [part["type"] for part in rebuilt.messages[-1]["parts"]] == [part["type"] for part in done["parts"]]
    assert rebuilt.states == {waits: "output-available"}
    assert sum(chunk["type"] == "finish" for chunk in again) == 1


async def test_another_users_turn_is_none(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", "Yes."))) as live:
        chat = Chat(live.client)
        seen: list[Any] = await chat.say("Is it?")
        turn = seen[0]["messageMetadata"]["turnId"]
        assert (await live.stranger.get(f"{CHAT}/{chat.id}/stream?turn={turn}")).status_code == 401


async def test_the_place_in_a_stream_is_no_id(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel())) as live:
        refused = await live.client.get(f"{CHAT}/c/stream", params={"turn": "../1"})
    assert (refused.status_code, refused.json()["error"]["where"]) == (422, "$.turn")


async def test_a_turn_is_stopped_by_its_id(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [ADD], "Added it.", blocks_at=2)
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client, body={"resumable": True})
        chat.messages.append(user("Add"))
        async with live.client.stream("POST", CHAT, json=chat.request()) as response:
            seen = chunks(response)
            before = [await anext(seen)]
            await model.blocked.wait()
            turn = before[0]["messageMetadata"]["turnId"]
            stopped = await live.client.post(f"/api/v1/agentic/turns/{turn}/cancel")
            rest = [chunk async for chunk in seen]
    assert stopped.json()["status"] == "cancelled"
    assert types(rest)[-3:] == ["message-metadata", "data-cancelled", "abort"]
    assert rest[-1]["reason"] == "The turn was cancelled."
