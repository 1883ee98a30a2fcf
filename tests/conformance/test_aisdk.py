"""The AI SDK's own clients, of two versions, drive a server: every scenario ends as it does with our own stream."""

import asyncio
import json
from base64 import b64encode
from typing import Any

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.conformance.clients import Clients
from tests.server.live import Live, serving
from tests.server.routes.aisdk.test_turns import kept, stored
from tests.server.routes.test_approvals import PLAN, whisper
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
ADD = call("add_component", 1, type="ChatInput")
State = dict[str, Any]


@pytest.fixture(params=["7", "6"])
def sdk(request: pytest.FixtureRequest) -> str:
    """The version of the client."""
    return request.param


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


async def played(clients: Clients, sdk: str, live: Live, scenario: str, *arguments: str, flow: str = "") -> list[State]:
    """What the client has after each step of a scenario."""
    token = live.client.headers["Authorization"].removeprefix("Bearer ")
    address = str(live.client.base_url).rstrip("/")
    return await clients.run("aisdk.mjs", scenario, *arguments, SDK=sdk, ADDRESS=address, TOKEN=token, FLOW=flow)


def text(state: State) -> str:
    """The text of the last message."""
    return "".join(part["text"] for part in state["messages"][-1]["parts"] if part["type"] == "text")


def calls(state: State) -> dict[str, str]:
    """The states of the calls of the last message, by the tools."""
    parts = state["messages"][-1]["parts"]
    return {part["toolName"]: part["state"] for part in parts if part["type"] == "dynamic-tool"}


def assert_ready(state: State, requests: int) -> None:
    assert (state["status"], state.get("error")) == ("ready", None)
    assert len(state["bodies"]) == requests, "nothing is sent again by itself"


@pytest.mark.parity("aisdk-metadata", "aisdk-on-finish")
async def test_questions_are_answered_in_one_chat(clients: Clients, catalogue: Catalogue, sdk: str) -> None:
    model = ScriptedModel("question", "A graph of components.", "question", "As I said: a graph.")
    async with serving(assistant(catalogue, model)) as live:
        first, second = await played(clients, sdk, live, "question", "What is a flow?", "Say it again")
    assert_ready(second, 2)
    assert (text(first), text(second)) == ("A graph of components.", "As I said: a graph.")
    assert [message["role"] for message in second["messages"]] == ["user", "assistant"] * 2
    assert second["finished"][-1] == {
        "isAbort": False,
        "isDisconnect": False,
        "isError": False,
        "finishReason": "stop",
    }
    assert set(second["messages"][-1]["metadata"]) >= {"turnId", "chatId", "usage", "durationSeconds", "finishReason"}
    assert "A graph of components." in str(model.requests[-1])


@pytest.mark.parity("aisdk-data")
async def test_a_build_and_run_shows_its_calls(clients: Clients, catalogue: Catalogue, sdk: str) -> None:
    build, run = call("build_flow", 1, spec=ECHO), call("run_flow", 2, input="hi")
    model = ScriptedModel("build_flow", [build], [run], "Ran it.")
    async with serving(assistant(catalogue, model, StandInRunner(results=[ran("hi"), ran("hi")]))) as live:
        flow = await stored(live)
        [state] = await played(clients, sdk, live, "question", "Build an echo and run it with hi", flow=flow)
        assert (await kept(live, flow))["node_count"] == 2
    assert_ready(state, 1)
    assert calls(state) == {"build_flow": "output-available", "run_flow": "output-available"}
    assert {"data-flow", "data-progress", "data-flow-preview", "data-complete"} <= set(state["data"])
    assert not [part for part in state["messages"][-1]["parts"] if part["type"].startswith("data-")]


@pytest.mark.parity("aisdk-resend-approvals", "aisdk-add-tool-approval")
@pytest.mark.parametrize("decision", ["yes", "no", "changed"])
async def test_an_edit_is_decided_and_the_turn_goes_on_by_itself(
    clients: Clients, catalogue: Catalogue, canvas: Flow, sdk: str, decision: str
) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)], "That was it.")
    changed = {"component_id": node_id(canvas, "Prompt Template"), "values": {"template": "Sing: {text}"}}
    arguments = ("yes", json.dumps(changed)) if decision == "changed" else (decision,)
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live, canvas)
        asked, done = await played(clients, sdk, live, "decide", *arguments, flow=flow)
        found = str((await kept(live, flow))["flow"])
    assert calls(asked) == {"configure_component": "approval-requested"}
    assert asked["finished"][-1]["finishReason"] == "tool-calls"
    assert_ready(done, 2)
    assert len(done["messages"]) == 2, "the answer goes on in the message that asked"
    assert calls(done) == {"configure_component": "output-denied" if decision == "no" else "output-available"}
    assert text(done).endswith("Nothing else was changed, run or written.") or "That was it." in text(done)
    wanted = {"yes": "Whisper: {text}", "no": "Say it louder: {text}", "changed": "Sing: {text}"}[decision]
    assert wanted in found
    if decision == "changed":
        [part] = [part for part in done["messages"][-1]["parts"] if part["type"] == "dynamic-tool"]
        assert part["input"] == changed


async def test_a_plan_then_the_flow_is_approved(clients: Clients, catalogue: Catalogue, sdk: str) -> None:
    plan, build = call("propose_plan", 1, markdown=PLAN), call("build_flow", 2, spec=ECHO)
    model = ScriptedModel("build_flow", [plan], [build], "Built.")
    async with serving(assistant(catalogue, model)) as live:
        _, done = await played(clients, sdk, live, "decide", "yes", flow=await stored(live))
    assert_ready(done, 2)
    assert calls(done) == {
        "propose_plan": "output-available",
        "build_flow": "output-available",
        "put_flow_on_canvas": "approval-requested",
    }


@pytest.mark.parity("aisdk-resend-outputs")
async def test_a_tool_of_the_client_is_carried_out(clients: Clients, catalogue: Catalogue, sdk: str) -> None:
    model = ScriptedModel("question", [call("get_location", 1)], "You are in Rome.")
    async with serving(assistant(catalogue, model)) as live:
        [state] = await played(clients, sdk, live, "tool")
    assert_ready(state, 2)
    [part] = [part for part in state["messages"][-1]["parts"] if part["type"] == "tool-get_location"]
    assert (part["state"], part["output"]) == ("output-available", {"city": "Rome"})
    assert text(state) == "You are in Rome."
    assert "Rome" in str(model.requests[-1])


@pytest.mark.parity("aisdk-stop")
async def test_stopping_ends_the_turn(clients: Clients, catalogue: Catalogue, sdk: str) -> None:
    model = ScriptedModel("build_flow", [ADD], "Added it.", blocks_at=2)
    async with serving(assistant(catalogue, model)) as live:
        [state] = await played(clients, sdk, live, "stop", flow=await stored(live))
        await model.cancelled.wait()
    assert_ready(state, 1)
    assert state["finished"][-1]["isAbort"]


@pytest.mark.parity("aisdk-resume-stream")
async def test_a_cut_stream_is_resumed_without_anything_twice(clients: Clients, catalogue: Catalogue, sdk: str) -> None:
    def answer(*_: object) -> str:
        return "Added it, and it took a while."

    model = ScriptedModel("build_flow", [ADD], answer, blocks_at=2)
    async with serving(assistant(catalogue, model)) as live:
        flow = await stored(live)
        token = live.client.headers["Authorization"].removeprefix("Bearer ")
        address = str(live.client.base_url).rstrip("/")
        variables = {"SDK": sdk, "ADDRESS": address, "TOKEN": token, "FLOW": flow}
        async with clients.started("aisdk.mjs", "cut", '"tool-output-available"', **variables) as states:
            cut = await anext(states)
            await asyncio.sleep(3)  # the client asks for the rest of a turn that goes on
            model.released.set()
            resumed = await anext(states)
            nothing = await anext(states)
        assert (await kept(live, flow))["node_count"] == 1
    assert (cut["status"], cut["finished"][-1]["isDisconnect"]) == ("error", True)
    assert (resumed["status"], nothing["status"]) == ("ready", "ready")
    assert resumed["messages"] == nothing["messages"], "204: nothing runs any more"
    assert len(resumed["messages"]) == 2
    if sdk == "7":  # which begins a message that is streamed again anew
        assert calls(resumed) == {"add_component": "output-available"}
        assert len(resumed["messages"][-1]["parts"]) == 4
    assert "Added it, and it took a while." in text(resumed)


@pytest.mark.parity("aisdk-regenerate")
async def test_answers_are_made_again_and_messages_edited(clients: Clients, catalogue: Catalogue, sdk: str) -> None:
    answers = ("1", "2", "2 again", "1 again", "3")
    model = ScriptedModel(*(reply for answer in answers for reply in ("question", answer)))
    async with serving(assistant(catalogue, model)) as live:
        last, first, edited = await played(clients, sdk, live, "regenerate")
        found = (await live.client.get("/api/v1/conversations/chat")).json()["messages"]
    assert [text(state) for state in (last, first, edited)] == ["2 again", "1 again", "3"]
    assert [len(state["messages"]) for state in (last, first, edited)] == [4, 2, 2]
    assert [[part.get("text") for part in message["parts"]] for message in found] == [["Three?", "3"]]


@pytest.mark.parity("aisdk-file-parts")
async def test_a_file_is_sent_and_read(clients: Clients, catalogue: Catalogue, sdk: str) -> None:
    model = ScriptedModel("question", [call("read_file", 1, path="notes.txt")], "It says milk.")
    url = f"data:text/plain;base64,{b64encode(b'buy milk').decode()}"
    async with serving(assistant(catalogue, model)) as live:
        [state] = await played(clients, sdk, live, "file", url)
        assert (await live.client.get("/api/v1/files/notes.txt")).content == b"buy milk"
    assert_ready(state, 1)
    assert "source-document" in [part["type"] for part in state["messages"][-1]["parts"]]


async def test_failures_are_errors_of_the_chat(clients: Clients, catalogue: Catalogue, sdk: str) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", RuntimeError("no such planet")))) as live:
        [failed] = await played(clients, sdk, live, "question", "What is a flow?")
        [forged] = await played(clients, sdk, live, "forged")
        [elsewhere] = await played(clients, sdk, live, "file", "https://example.com/a.txt")
    assert failed["status"] == "error"
    assert "planet" not in failed["error"]
    assert failed["messages"][-1]["metadata"]["finishReason"] == "error"
    assert json.loads(forged["error"])["error"]["code"] == "unknown_approval"
    assert json.loads(elsewhere["error"])["error"]["code"] == "url_refused"


async def test_what_a_client_sends_back_of_a_large_flow_is_small(
    clients: Clients, catalogue: Catalogue, sdk: str
) -> None:
    nodes = [{"id": f"ChatInput-{number:05d}", "type": "ChatInput"} for number in range(300)]
    looks = [[call("search_components", step, query=query)] for step, query in enumerate(("chat", "model", "agent"))]
    model = ScriptedModel("question", *looks, "It has inputs.", "question", "As I said.")
    async with serving(assistant(catalogue, model)) as live:
        one: Any = flow_of(ECHO, catalogue).nodes[0].raw
        raw: list[Any] = [{**one, "id": node["id"], "data": {**one["data"], "id": node["id"]}} for node in nodes]
        flow = Flow.from_json({"name": "Large", "data": {"nodes": raw, "edges": []}})
        name = await stored(live, flow)
        _, state = await played(clients, sdk, live, "question", "What comes in?", "Say it again", flow=name)
    assert_ready(state, 2)
    assert max(state["bodies"]) < 20_000
