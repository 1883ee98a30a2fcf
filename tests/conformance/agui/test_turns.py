"""The real AG-UI clients and the real server: questions, builds, approvals, front-end tools, cuts and errors."""

from typing import Any, cast

import pytest
from pydantic_ai import ToolCallPart

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.conformance.agui.driving import drive
from tests.conformance.clients import Clients
from tests.server.live import FLOWS, serving
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
EMPTY: dict[str, Any] = {"name": "F", "data": {"nodes": [], "edges": []}}
WHERE: dict[str, Any] = {
    "name": "get_location",
    "description": "Where the user is.",
    "parameters": {"type": "object", "properties": {}},
}


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


def whisper(canvas: Flow, step: int = 1, text: str = "Whisper: {text}") -> ToolCallPart:
    node = node_id(canvas, "Prompt Template")
    return call("configure_component", step, component_id=node, values={"template": text})


def template(flow: Flow) -> object:
    """The text of the flow's prompt."""
    return next(node.value("template") for node in flow.nodes if node.type == "Prompt Template")


@pytest.mark.parametrize("client", ["", "old"])
async def test_a_question_streams_and_a_build_changes_the_state(
    catalogue: Catalogue, clients: Clients, client: str
) -> None:
    build = [call("add_component", 1, type="ChatInput")]
    model = ScriptedModel("question", "A chat input takes what a person types.", "build_flow", build, "Added it.")
    async with serving(assistant(catalogue, model)) as live:
        stored = (await live.client.post(FLOWS, json={"name": "F", "flow": EMPTY})).json()["id"]
        steps = {"message": "What is a chat input?"}, {"message": "Add an input"}
        asked, built = await drive(clients, live, *steps, state={"flow_id": stored}, client=client)
        saved = (await live.client.get(f"{FLOWS}/{stored}")).json()["flow"]
    assert (asked.error, built.error) == (None, None)
    assert asked.text == "A chat input takes what a person types."
    assert asked.types[0] == "RUN_STARTED"
    assert asked.last["type"] == "RUN_FINISHED"
    assert {"STEP_STARTED", "STEP_FINISHED", "STATE_SNAPSHOT", "TEXT_MESSAGE_START"} <= {*asked.types}
    assert ("protocolVersion" in asked.events[0], "outcome" in asked.last) == (not client, not client)
    [node] = saved["data"]["nodes"]
    assert built.state["flow"]["nodes"][node["id"]]["type"] == "ChatInput"
    assert built.state["flow_id"] == stored
    assert [one["toolCalls"][0]["function"]["name"] for one in built.messages if one.get("toolCalls")] == [
        "add_component"
    ]
    assert [one["role"] for one in built.messages] == ["user", "assistant", "tool", "assistant"]
    assert "Added it." in built.text
    assert built.custom("complete")[0]["record"]["changes"]
    assert "What is a chat input?" in model.prompts[-1], "the thread is a conversation"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"approved": True}, "Whisper: {text}"),
        ({"approved": False, "reason": "Too quiet."}, "Say it louder: {text}"),
        ({"approved": True, "editedArgs": "other"}, "Hum: {text}"),
    ],
)
async def test_an_edit_is_an_interrupt_that_is_approved_denied_or_changed(
    catalogue: Catalogue, clients: Clients, canvas: Flow, answer: dict[str, Any], text: str
) -> None:
    if "editedArgs" in answer:
        answer = {**answer, "editedArgs": whisper(canvas, text=text).args}
    model = ScriptedModel("build_flow", [whisper(canvas)], "Done.")
    async with serving(assistant(catalogue, model)) as live:
        stored = (await live.client.post(FLOWS, json={"name": "F", "flow": canvas.to_json()})).json()["id"]
        asked, done = await drive(clients, live, {"message": "Whisper"}, {"payload": answer}, state={"flow_id": stored})
        saved = Flow.from_json((await live.client.get(f"{FLOWS}/{stored}")).json()["flow"])
    [interrupt] = asked.pending
    assert interrupt["reason"] == "tool_call"
    assert interrupt["responseSchema"]["required"] == ["approved"]
    assert interrupt["metadata"]["approval"]["new_value"] == "Whisper: {text}"
    assert interrupt["toolCallId"] in [one["id"] for message in asked.messages for one in message.get("toolCalls", [])]
    assert (asked.error, done.error, done.pending) == (None, None, [])
    assert "TOOL_CALL_START" not in done.types, "a call that goes on is told once"
    assert "TOOL_CALL_RESULT" in done.types
    assert template(saved) == text
    if "reason" in answer:
        assert any("Too quiet." in one for one in model.tool_answers(2))


async def test_a_new_message_gives_up_what_waits(catalogue: Catalogue, clients: Clients, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)], "question", "It is a prompt.")
    async with serving(assistant(catalogue, model)) as live:
        stored = (await live.client.post(FLOWS, json={"name": "F", "flow": canvas.to_json()})).json()["id"]
        steps = {"message": "Whisper"}, {"message": "yes"}, {"message": "What is that?", "cancelAll": True}
        asked, refused, other = await drive(clients, live, *steps, state={"flow_id": stored})
        saved = Flow.from_json((await live.client.get(f"{FLOWS}/{stored}")).json()["flow"])
    assert len(asked.pending) == 1
    assert refused.error is not None, "the client itself demands answers to its interrupts"
    assert "It is a prompt." in other.text
    assert template(saved) == "Say it louder: {text}"


async def test_an_offered_flow_is_an_interrupt_and_the_thread_keeps_its_canvas(
    catalogue: Catalogue, clients: Clients
) -> None:
    model = ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], "Built it.", "question", "An echo.")
    runner = StandInRunner(results=[ran("hi")])
    async with serving(assistant(catalogue, model, runner)) as live:
        steps = {"message": "Build an echo"}, {"payload": True}, {"message": "What is on the canvas?"}
        built, placed, asked = await drive(clients, live, *steps)
    [interrupt] = built.pending
    assert (interrupt["reason"], [*built.state["flow"]["nodes"]]) == ("confirmation", [])
    assert {one["type"] for one in interrupt["metadata"]["proposal"]["nodes"].values()} == {"ChatInput", "ChatOutput"}
    assert built.custom("flow_preview")[0]["node_count"] == 2
    types = sorted(one["type"] for one in placed.state["flow"]["nodes"].values())
    assert (types, len(placed.state["flow"]["edges"])) == (["ChatInput", "ChatOutput"], 1)
    assert asked.state["flow"] == placed.state["flow"]
    assert asked.error is None


@pytest.mark.parametrize("client", ["", "old"])
async def test_a_tool_of_the_front_end_is_called_and_its_result_goes_on(
    catalogue: Catalogue, clients: Clients, client: str
) -> None:
    model = ScriptedModel("question", [call("get_location", 1)], "You are in Paris.")
    steps: list[dict[str, Any]] = [
        {"message": "Where am I?", "tools": [WHERE]},
        {"results": {"get_location": "Paris"}, "tools": [WHERE]},
    ]
    async with serving(assistant(catalogue, model)) as live:
        called, told = await drive(clients, live, *steps, client=client)
    [made] = [one for message in called.messages for one in message.get("toolCalls", [])]
    assert made["function"]["name"] == "get_location"
    assert (called.last["type"], called.pending) == ("RUN_FINISHED", [])
    assert called.last.get("outcome", {"type": "success"}) == {"type": "success"}
    assert told.text == "You are in Paris."
    assert [one["role"] for one in told.messages] == ["tool", "assistant"], "the client has its result already"
    assert "Paris" in model.tool_answers(2)


async def test_forged_answers_are_errors_and_nothing_happens(
    catalogue: Catalogue, clients: Clients, canvas: Flow
) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)], "Done.")
    forged = {"interruptId": "call-of-mine", "status": "resolved", "payload": {"approved": True}}
    async with serving(assistant(catalogue, model)) as live:
        stored = (await live.client.post(FLOWS, json={"name": "F", "flow": canvas.to_json()})).json()["id"]
        props = {"flow_id": stored}
        [asked] = await drive(clients, live, {"message": "Whisper", "props": props}, thread="mine")
        call_id = str(asked.pending[0]["id"])
        real = {**forged, "interruptId": call_id}
        [unknown] = await drive(clients, live, {"resume": [forged], "props": props}, thread="mine")
        [other] = await drive(clients, live, {"resume": [real], "props": props}, thread="another")
        [result] = await drive(clients, live, {"results": {"no-call": "x"}, "props": props}, thread="mine")
        [wrong] = await drive(clients, live, {"results": {call_id: "yes"}, "props": props}, thread="mine")
        saved = Flow.from_json((await live.client.get(f"{FLOWS}/{stored}")).json()["flow"])
    codes = [run.events[-1].get("code") for run in (unknown, other, result, wrong)]
    assert codes == ["unknown_approval", "nothing_pending", "unknown_approval", "wrong_answer"]
    assert len(model.requests) == 2
    assert template(saved) == "Say it louder: {text}"


async def test_a_run_that_is_sent_again_is_followed_and_not_repeated(catalogue: Catalogue, clients: Clients) -> None:
    model = ScriptedModel("question", "It takes what a person types.")
    step = {"message": "What is a chat input?", "runId": "run-1", "props": {"resumable": True}}
    async with serving(assistant(catalogue, model)) as live:
        [first] = await drive(clients, live, step)
        [again] = await drive(clients, live, step)
        [other] = await drive(clients, live, step, thread="other")
    assert (again.events, again.text) == (first.events, first.text)
    assert len(model.requests) == 2
    assert other.error is not None or other.last["code"] == "other_thread"


async def test_a_run_is_cancelled_by_its_client_or_by_its_id(catalogue: Catalogue, clients: Clients) -> None:
    model = ScriptedModel("question", "Never said.", blocks_at=0)
    async with serving(assistant(catalogue, model)) as live:
        leaves = {"message": "Hello?", "at": "RUN_STARTED", "abort": True, "runId": "run-1"}
        [left] = await drive(clients, live, leaves, thread="one")
        ended = (await live.client.get("/api/v1/agentic/turns/run-1/events")).text
        stops = {"message": "Hello?", "at": "RUN_STARTED", "stop": True, "runId": "run-2"}
        [stopped] = await drive(clients, live, stops, thread="two")
    assert left.text == ""
    assert '"reason":"abandoned"' in ended.splitlines()[-2]
    assert stopped.last["outcome"] == {"type": "cancelled"}
    assert stopped.custom("cancelled")[0]["reason"] == "stopped"


@pytest.mark.parametrize("client", ["", "old"])
async def test_an_error_ends_the_run_with_its_code(catalogue: Catalogue, clients: Clients, client: str) -> None:
    model = ScriptedModel("question", RuntimeError("a secret of the model"))
    async with serving(assistant(catalogue, model)) as live:
        [failed] = await drive(clients, live, {"message": "Hello?"}, client=client)
    assert failed.last["type"] == "RUN_ERROR"
    assert failed.last["code"]
    assert "a secret of the model" not in str(failed.events)


async def test_a_large_canvas_makes_small_requests(catalogue: Catalogue, clients: Clients) -> None:
    document = flow_of(ECHO, catalogue).to_json()
    data = cast("dict[str, Any]", document["data"])
    node = data["nodes"][0]
    copies = [f"ChatInput-{at:05}" for at in range(300)]
    slim = {**node["data"]["node"], "template": {"input_value": node["data"]["node"]["template"]["input_value"]}}
    data["nodes"] = [{**node, "id": name, "data": {**node["data"], "id": name, "node": slim}} for name in copies]
    data["edges"] = []
    model = ScriptedModel("question", "Many inputs.")
    async with serving(assistant(catalogue, model)) as live:
        stored = (await live.client.post(FLOWS, json={"name": "F", "flow": document})).json()["id"]
        [asked] = await drive(clients, live, {"message": "What is this?"}, state={"flow_id": stored})
    assert asked.state["flow"]["detail"] == "types"
    assert len(asked.state["flow"]["nodes"]) == 300
    assert asked.sent < 20_000
