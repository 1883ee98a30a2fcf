"""Turns over the AI SDK's stream: what clients see of questions, builds, calls, approvals and endings."""

from typing import Any

import pytest
from pydantic_ai import TextPart

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.server.live import FLOWS, Live, serving
from tests.server.routes.aisdk.chats import Chat, types
from tests.server.routes.test_approvals import PLAN, whisper
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


async def stored(live: Live, flow: Flow | None = None) -> str:
    flow = flow or Flow.empty("F")
    return (await live.client.post(FLOWS, json={"name": "F", "flow": flow.to_json()})).json()["id"]


async def kept(live: Live, flow: str) -> dict[str, Any]:
    return (await live.client.get(f"{FLOWS}/{flow}")).json()


@pytest.mark.parity("aisdk-text", "aisdk-control")
async def test_a_question_streams_its_answer_as_one_text(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "A flow is a graph of components, which messages run through.")
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client)
        seen = await chat.say("What is a flow?")
    assert types(seen) == [
        "start",
        "data-flow",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "data-complete",
        "finish-step",
        "finish",
    ]
    assert sum(chunk["type"] == "text-delta" for chunk in seen) > 1
    assert chat.text == "A flow is a graph of components, which messages run through."
    assert seen[-1]["finishReason"] == "stop"
    assert set(seen[-1]["messageMetadata"]) >= {"finishReason", "usage", "durationSeconds", "model"}
    assert seen[0]["messageMetadata"]["chatId"] == chat.id


@pytest.mark.parity("aisdk-steps", "aisdk-tool-calls", "aisdk-server-tools")
async def test_the_answer_stands_in_a_step_after_that_of_the_calls(catalogue: Catalogue) -> None:
    add = call("add_component", 1, type="ChatInput")
    model = ScriptedModel("build_flow", [add], "Added it.")
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live)
        chat = Chat(live.client, body={"flowId": flow})
        seen = await chat.say("Add an input")
        found = await kept(live, flow)
    assert types(seen) == [
        "start",
        "data-flow",
        "start-step",
        "tool-input-available",
        "data-flow-update",
        "tool-output-available",
        "finish-step",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "data-complete",
        "finish-step",
        "finish",
    ]
    called = next(chunk for chunk in seen if chunk["type"] == "tool-input-available")
    assert (called["toolName"], called["input"]) == ("add_component", {"type": "ChatInput"})
    assert (called["dynamic"], called["providerExecuted"]) == (True, True)
    assert found["node_count"] == 1
    assert seen[-1]["messageMetadata"]["version"] == found["version"]


async def test_a_proposed_flow_waits_like_a_call_and_is_put_on_the_canvas_by_a_yes(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], "I built it.")
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live)
        chat = Chat(live.client, body={"flowId": flow})
        seen = await chat.say("Build an echo")
        [waits] = chat.waiting
        asked = next(chunk for chunk in seen if chunk.get("toolCallId") == waits)
        assert (await kept(live, flow))["node_count"] == 0
        chat.decide(waits, approved=True)
        await chat.answer()
        found = await kept(live, flow)
    assert (asked["toolName"], sorted(asked["input"]["nodes"])) == ("put_flow_on_canvas", ["ChatInput", "ChatOutput"])
    assert seen[-1]["finishReason"] == "tool-calls"
    assert found["node_count"] == 2
    assert chat.states[waits] == "output-available"
    assert "Proposed, not on the canvas yet" in chat.text, "the record of what was done is part of the answer"


async def test_a_proposed_flow_that_is_refused_is_set_aside(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], "I built it.")
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live)
        chat = Chat(live.client, body={"flowId": flow})
        await chat.say("Build an echo")
        [waits] = chat.waiting
        chat.decide(waits, approved=False)
        await chat.answer()
        assert (await kept(live, flow))["node_count"] == 0
    assert chat.states[waits] == "output-denied"


@pytest.mark.parity("aisdk-approvals")
async def test_an_edit_is_approved_in_the_message_that_asks(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)], "I changed the prompt.")
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live, canvas)
        chat = Chat(live.client, body={"flowId": flow})
        asked = await chat.say("Whisper")
        [waits] = chat.waiting
        [question] = [part["data"] for part in chat.messages[-1]["parts"] if part["type"] == "data-approval"]
        chat.decide(waits, approved=True)
        done = await chat.answer()
        found = await kept(live, flow)
    assert (question["kind"], question["new_value"]) == ("edit", "Whisper: {text}")
    assert asked[-1]["finishReason"] == "tool-calls"
    assert done[0]["messageId"] == asked[0]["messageId"]
    assert "tool-input-available" not in types(done), "the client has the call"
    assert len(chat.messages) == 2
    assert chat.states == {waits: "output-available"}
    assert "Whisper: {text}" in str(found["flow"])


async def test_a_denied_edit_changes_nothing_and_its_reason_is_read(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)], "I left it.")
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live, canvas)
        chat = Chat(live.client, body={"flowId": flow})
        await chat.say("Whisper")
        [waits] = chat.waiting
        chat.decide(waits, approved=False, reason="Too quiet")
        await chat.answer()
        found = await kept(live, flow)
    assert chat.states == {waits: "output-denied"}
    assert (found["version"], found["flow"]["data"]) == (1, canvas.to_json()["data"])
    assert "Too quiet" in model.tool_answers(-1)[-1]


async def test_changed_arguments_are_used_and_shown(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)], "I changed the prompt.")
    node = node_id(canvas, "Prompt Template")
    changed = {"component_id": node, "values": {"template": "Sing: {text}"}}
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live, canvas)
        chat = Chat(live.client, body={"flowId": flow})
        await chat.say("Whisper")
        [waits] = chat.waiting
        chat.decide(waits, approved=True)
        await chat.answer(toolArguments={waits: changed})
        found = await kept(live, flow)
    assert "Sing: {text}" in str(found["flow"])
    assert "Whisper: {text}" not in str(found["flow"])
    [part] = [part for part in chat.messages[-1]["parts"] if part.get("toolCallId") == waits]
    assert (part["state"], part["input"]) == ("output-available", changed)


async def test_a_plan_is_asked_and_the_build_goes_on_after_it(catalogue: Catalogue) -> None:
    plan, build = call("propose_plan", 1, markdown=PLAN), call("build_flow", 2, spec=ECHO)
    model = ScriptedModel("build_flow", [plan], [build], "Built.")
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client)
        await chat.say("Plan an echo")
        [waits] = chat.waiting
        chat.decide(waits, approved=True)
        await chat.answer()
    assert chat.states[waits] == "output-available"
    assert chat.states[build.tool_call_id] == "output-available"
    assert chat.waiting == ["proposal-1"]


async def test_answers_may_come_one_by_one(catalogue: Catalogue, canvas: Flow) -> None:
    first, second = whisper(canvas), call("propose_plan", 2, markdown=PLAN)
    model = ScriptedModel("build_flow", [first, second], "Both done.")
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client, body={"flowId": await stored(live, canvas)})
        await chat.say("Whisper, and plan")
        assert set(chat.waiting) == {first.tool_call_id, second.tool_call_id}
        chat.decide(first.tool_call_id, approved=True)
        await chat.answer()
        assert chat.waiting == [second.tool_call_id]
        chat.decide(second.tool_call_id, approved=True)
        await chat.answer()
    assert set(chat.states.values()) == {"output-available"}


async def test_a_new_message_denies_what_waits(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)], "build_flow", [call("check_flow", 2)], "It is fine.")
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live, canvas)
        chat = Chat(live.client, body={"flowId": flow})
        await chat.say("Whisper")
        await chat.say("Check the flow instead")
        assert (await kept(live, flow))["version"] == 1
    assert len(chat.messages) == 4


@pytest.mark.parity("aisdk-preliminary", "aisdk-custom-data")
async def test_a_run_says_how_far_it_is_and_what_it_gave(catalogue: Catalogue) -> None:
    build, run = call("build_flow", 1, spec=ECHO), call("run_flow", 2, input="hi")
    model = ScriptedModel("build_flow", [build], [run], "Ran it.")
    async with serving(assistant(catalogue, model, StandInRunner(results=[ran("hi"), ran("hi")]))) as live:
        chat = Chat(live.client)
        seen = await chat.say("Build an echo and run it with hi")
    early = [chunk for chunk in seen if chunk.get("preliminary")]
    assert {chunk["toolCallId"] for chunk in early} >= {run.tool_call_id}
    assert [chunk for chunk in seen if chunk.get("toolCallId") == run.tool_call_id][-1]["type"] == (
        "tool-output-available"
    )
    assert not [chunk for chunk in seen if chunk.get("toolCallId") == run.tool_call_id][-1].get("preliminary")
    [complete] = [chunk["data"] for chunk in seen if chunk["type"] == "data-complete"]
    assert complete["run"] == {"output": "hi", "error": None}
    assert "flow" not in complete


@pytest.mark.parity("aisdk-tool-errors")
async def test_a_call_that_is_sent_back_is_an_error_of_its_part(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("add_component", 1, type="Nonsense")], "There is no such component.")
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client)
        await chat.say("Add nonsense")
    assert list(chat.states.values()) == ["output-error"]


@pytest.mark.parity("aisdk-sources")
async def test_a_file_that_was_read_is_a_source(catalogue: Catalogue) -> None:
    model = ScriptedModel("manage_files", [call("read_file", 1, path="notes/todo.md")], "It says: buy milk.")
    async with serving(assistant(catalogue, model)) as live:
        await live.client.post("/api/v1/files?folder=notes", files={"file": ("todo.md", b"buy milk")})
        chat = Chat(live.client)
        seen = await chat.say("What is in notes/todo.md?")
    assert [chunk for chunk in seen if chunk["type"] == "source-document"] == [
        {
            "type": "source-document",
            "sourceId": "notes/todo.md",
            "mediaType": "text/markdown",
            "title": "todo.md",
            "filename": "notes/todo.md",
        }
    ]


@pytest.mark.parity("aisdk-errors")
async def test_a_failed_turn_ends_with_an_error_and_closes_what_is_open(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", RuntimeError("secret detail"))
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client)
        seen = await chat.say("What is a flow?")
    assert types(seen)[-2:] == ["error", "finish"]
    assert seen[-1]["finishReason"] == "error"
    assert "secret detail" not in str(seen)
    [told] = [chunk["data"] for chunk in seen if chunk["type"] == "data-error"]
    assert {"code", "message", "fix"} <= set(told)


async def test_text_before_a_call_is_a_part_of_its_own_and_thoughts_are_reasoning(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", [TextPart("Let me look."), call("search_components", 1, query="chat")], "Chat.")
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client)
        await chat.say("Which components chat?")
    kinds = [part["type"] for part in chat.messages[-1]["parts"]]
    assert kinds == ["step-start", "text", "dynamic-tool", "step-start", "text"]


async def test_no_chunk_has_a_whole_flow(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], "I built it.")
    async with serving(assistant(catalogue, model)) as live:
        chat = Chat(live.client, body={"flowId": await stored(live, canvas)})
        seen = await chat.say("Replace it with an echo")
    assert "template" not in str(seen).replace("Prompt Template", "")
