"""Any PydanticAI agent as an AG-UI agent: the four examples, and what the adapter promises, with the real client."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import httpx
import pytest
from pydantic_ai import Agent, CustomEvent, ModelMessage, RunContext, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from starlette.applications import Starlette

import wirewright
from examples.agui import agentic_chat, agentic_generative_ui, backend_tool_rendering, shared_state
from server.serve import HttpServer, address, bound
from server.settings import ServerSettings
from tests.conformance.agui.driving import Run
from tests.conformance.clients import Clients

pytestmark = pytest.mark.anyio
Reply = str | tuple[str, dict[str, Any]] | Exception
BACKGROUND: dict[str, Any] = {
    "name": "change_background",
    "description": "Changes the background.",
    "parameters": {"type": "object", "properties": {"color": {"type": "string"}}},
}


class Script:
    """A model that gives its replies in turn, and what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[list[ModelMessage]] = []
        self.model = FunctionModel(stream_function=self._stream)

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        self.requests.append(messages)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            for word in reply.split(" "):
                yield f"{word} "
            return
        name, arguments = reply
        written = json.dumps(arguments)
        call = f"call-{len(self.requests)}-{id(self)}"
        yield {0: DeltaToolCall(name=name, json_args=written[:5], tool_call_id=call)}
        yield {0: DeltaToolCall(json_args=written[5:], tool_call_id=call)}

    @property
    def prompts(self) -> list[str]:
        """The last user prompt of each request."""
        return [
            str([part.content for one in asked for part in one.parts if part.part_kind == "user-prompt"][-1])
            for asked in self.requests
        ]

    def returned(self, request: int) -> list[object]:
        """What tools had answered when a request was made."""
        return [
            part.content for one in self.requests[request] for part in one.parts if isinstance(part, ToolReturnPart)
        ]


@asynccontextmanager
async def listening(app: Starlette) -> AsyncGenerator[str]:
    """The address at which an application is served."""
    stopping, ready, listener = asyncio.Event(), asyncio.Event(), bound("127.0.0.1", 0)
    server = HttpServer(app, stopping, ready.set, ServerSettings())
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await ready.wait()
    try:
        yield address(listener)
    finally:
        server.stop()
        await task


async def drive(
    clients: Clients, app: Starlette, *steps: dict[str, Any], state: Any = None, endpoint: str = "/"
) -> list[Run]:
    """What the real client makes of runs of an agent."""
    asked = json.dumps({"steps": steps, "state": state})
    async with listening(app) as url:
        lines = await clients.run("agui/drive.mjs", asked, SERVER=url, TOKEN="", ENDPOINT=endpoint)
    return [Run(**line) for line in lines]


async def ask(app: Starlette, accept: str = "text/event-stream", **run: Any) -> httpx.Response:
    """The reply to one run, without a client."""
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        body = {"threadId": "t", "runId": "r", "messages": [{"id": "u", "role": "user", "content": "Hi"}], **run}
        return await client.post("/", json=body, headers={"accept": accept})


def sent(reply: httpx.Response) -> list[dict[str, Any]]:
    """The events of a reply."""
    lines = [line.removeprefix("data: ") for line in reply.text.split("\n")]
    return [json.loads(line) for line in lines if line.startswith("{")]


def app_of(script: Script, config: wirewright.AguiConfig | None = None, *tools: Callable[..., Any]) -> Starlette:
    """An application of an agent that follows a script."""
    return wirewright.create_agui_app(Agent(script.model, tools=tools), config=config)


@pytest.mark.parity("agui-example-chat", "agui-front-end-tools", "agui-chunks")
async def test_agentic_chat_calls_a_tool_of_the_page(clients: Clients) -> None:
    script = Script(("change_background", {"color": "blue"}), "It is blue now.", "You are welcome.")
    with agentic_chat.agent.override(model=script.model):
        called, told, thanked = await drive(
            clients,
            agentic_chat.app,
            {"message": "Make it blue", "tools": [BACKGROUND]},
            {"results": {"change_background": "done"}, "tools": [BACKGROUND]},
            {"message": "Thanks"},
        )
    [made] = [one["function"] for message in called.messages for one in message.get("toolCalls", [])]
    assert (made["name"], json.loads(made["arguments"])) == ("change_background", {"color": "blue"})
    assert (called.last["type"], called.last["outcome"]) == ("RUN_FINISHED", {"type": "success"})
    assert "TOOL_CALL_RESULT" not in [*called.types, *told.types]
    assert told.text.strip() == "It is blue now."
    assert script.returned(1) == ["done"]
    assert [run.error for run in (called, told, thanked)] == [None] * 3
    assert len(script.requests[2]) == 5, "the thread has its history on the server"


async def test_a_call_of_the_page_s_tool_that_does_not_fit_its_schema_goes_back_to_the_model(clients: Clients) -> None:
    strict = BACKGROUND | {"parameters": BACKGROUND["parameters"] | {"required": ["color"]}}
    wrong: list[Reply] = [("change_background", {}), ("change_background", {"color": 3})]
    script = Script(*wrong, ("change_background", {"color": "red"}), "It is red.")
    step = {"message": "Make it red", "tools": [strict]}
    called, told = await drive(
        clients, app_of(script), step, {"results": {"change_background": "done"}, "tools": [strict]}
    )
    waiting = [call for one in called.messages for call in one.get("toolCalls", [])]
    answered = {one["toolCallId"] for one in called.messages if one["role"] == "tool"}
    [open_call] = [call for call in waiting if call["id"] not in answered]
    assert json.loads(open_call["function"]["arguments"]) == {"color": "red"}
    said = [one["content"] for one in called.messages if one["role"] == "tool"]
    assert "color: is missing" in said[0]
    assert "color: must be of type string" in said[1]
    assert (told.error, told.text.strip()) == (None, "It is red.")


async def test_a_call_of_the_page_s_tool_that_never_fits_ends_the_run() -> None:
    script = Script(*[("change_background", {"color": 3})] * 20)
    events = sent(await ask(app_of(script), tools=[BACKGROUND]))
    assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", "AGENT_ERROR")
    assert len(script.replies) > 10, "the model is not asked for ever"


@pytest.mark.parity("agui-example-tools", "agui-back-end-tools", "agui-tool-text")
async def test_backend_tool_rendering_tells_calls_and_results(clients: Clients) -> None:
    script = Script(("get_weather", {"city": "Paris"}), ("render_chart", {"title": "T", "values": [1, 2]}), "Sunny.")
    with backend_tool_rendering.agent.override(model=script.model):
        [run] = await drive(clients, backend_tool_rendering.app, {"message": "The weather in Paris?"})
    results = [json.loads(one["content"]) for one in run.messages if one["role"] == "tool"]
    assert results[0] == {"city": "Paris", "conditions": "sunny", "celsius": 21}
    assert [bar["value"] for bar in results[1]["bars"]] == [1, 2]
    assert run.text.strip() == "Sunny."
    told = [one for one in run.types if one.startswith("TOOL_CALL")]
    assert [one for one in told if one != "TOOL_CALL_ARGS"] == [
        "TOOL_CALL_START",
        "TOOL_CALL_END",
        "TOOL_CALL_RESULT",
    ] * 2


@pytest.mark.parity("agui-example-state", "agui-state-priming", "agui-state-from-args")
async def test_shared_state_reads_the_page_s_recipe_and_changes_it_with_the_call(clients: Clients) -> None:
    recipe = {"title": "Soup", "ingredients": ["water"], "steps": ["Boil."]}
    better = {**recipe, "ingredients": ["water", "salt"]}
    script = Script(("write_recipe", {"recipe": better}), "Salted.")
    state = {"recipe": recipe, "messages": ["not to be sent back"]}
    with shared_state.agent.override(model=script.model):
        [run] = await drive(clients, shared_state.app, {"message": "Improve it"}, state=state)
    snapshots = [one["snapshot"] for one in run.events if one["type"] == "STATE_SNAPSHOT"]
    assert snapshots == [{"recipe": recipe}, {"recipe": better}]
    assert run.types.index("TOOL_CALL_RESULT") > [at for at, one in enumerate(run.types) if one == "STATE_SNAPSHOT"][1]
    assert '"water"' in script.prompts[0]
    assert script.prompts[0].endswith("Improve it")
    assert run.state == {"recipe": better}


@pytest.mark.parity("agui-example-steps", "agui-state-from-result", "agui-behaviors")
async def test_agentic_generative_ui_makes_the_state_of_results(clients: Clients) -> None:
    steps = ["Dig", "Plant"]
    script = Script(("plan_steps", {"steps": steps}), ("finish_step", {"steps": steps, "finished": 1}), "One is left.")
    with agentic_generative_ui.agent.override(model=script.model):
        [run] = await drive(clients, agentic_generative_ui.app, {"message": "Plant a tree"})
    states = [one["snapshot"]["steps"] for one in run.events if one["type"] == "STATE_SNAPSHOT"]
    assert [[step["done"] for step in one] for one in states] == [[False, False], [True, False]]
    assert run.state["steps"][0]["done"] is True


@pytest.mark.parity("agui-hook-failures")
async def test_a_hook_that_fails_ends_no_run() -> None:
    def broken(*_: object) -> Any:
        raise RuntimeError("broken")

    def add(number: int) -> int:
        return number + 1

    behavior = wirewright.ToolBehavior(state_from_args=broken, state_from_result=broken)
    config = wirewright.AguiConfig(tool_behaviors={"add": behavior}, state_context_builder=broken)
    events = sent(await ask(app_of(Script(("add", {"number": 1}), "Two."), config, add)))
    assert events[-1]["type"] == "RUN_FINISHED"
    assert [one["content"] for one in events if one["type"] == "TOOL_CALL_RESULT"] == ["2"]


@pytest.mark.parity("agui-call-context", "agui-result-context", "agui-awaitable-hooks")
async def test_hooks_get_the_call_and_its_result_and_may_be_asynchronous() -> None:
    seen: list[Any] = []

    async def from_args(call: wirewright.ToolCallContext) -> dict[str, Any]:
        await asyncio.sleep(0)
        seen.append((call.tool_name, call.arguments, call.run.thread_id))
        return {"number": call.arguments["number"]}

    def from_result(call: wirewright.ToolResultContext) -> None:
        seen.append((call.result, call.message_id, call.tool_call_id))

    def add(number: int) -> int:
        return number + 1

    behavior = wirewright.ToolBehavior(state_from_args=from_args, state_from_result=from_result)
    config = wirewright.AguiConfig(tool_behaviors={"add": behavior})
    events = sent(await ask(app_of(Script(("add", {"number": 1}), "Two."), config, add)))
    [result] = [one for one in events if one["type"] == "TOOL_CALL_RESULT"]
    assert seen == [("add", {"number": 1}, "t"), (2, result["messageId"], result["toolCallId"])]
    assert [one["snapshot"] for one in events if one["type"] == "STATE_SNAPSHOT"] == [{"number": 1}]


@pytest.mark.parity("agui-context")
async def test_the_prompt_is_what_the_application_makes_of_it() -> None:
    async def build(run: Any, message: str) -> str:
        await asyncio.sleep(0)
        return f"{run.state['mood']}: {message}"

    script = Script("Hi.")
    await ask(app_of(script, wirewright.AguiConfig(state_context_builder=build)), state={"mood": "glad"})
    assert script.prompts == ["glad: Hi"]


@pytest.mark.parity("agui-user-message")
async def test_a_run_without_a_message_begins_with_a_greeting() -> None:
    script = Script("Hello!")
    await ask(app_of(script), messages=[])
    assert script.prompts == ["Hello"]


@pytest.mark.parity("agui-error")
async def test_what_fails_is_an_error_without_the_exception_s_text() -> None:
    events = sent(await ask(app_of(Script(RuntimeError("the key is 123")))))
    assert [one["type"] for one in events] == ["RUN_STARTED", "RUN_ERROR"]
    assert (events[-1]["code"], "123" in str(events)) == ("AGENT_ERROR", False)


@dataclass(kw_only=True)
class Odd(CustomEvent, name="odd"):
    """An event that JSON has no form for."""

    value: object


@pytest.mark.parity("agui-accept", "agui-encoding-error")
async def test_lines_of_json_are_sent_to_who_accepts_them_and_what_is_none_ends_the_run() -> None:
    async def emit(ctx: RunContext[None]) -> str:
        await ctx.emit(Odd(value=object()))
        return "done"

    lines = await ask(app_of(Script("Hi.")), "application/x-ndjson")
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert next(json.loads(line)["type"] for line in lines.text.splitlines()) == "RUN_STARTED"
    for accept in ("application/x-ndjson", "text/event-stream"):
        events = sent(await ask(app_of(Script(("emit", {}), "Done."), None, emit), accept))
        assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", "ENCODING_ERROR")


@pytest.mark.parity("agui-threads")
async def test_threads_are_kept_apart_while_they_run_at_the_same_time() -> None:
    script = Script("One.", "Two.", "Three.", "Four.")
    app = app_of(script)
    said = {name: [{"id": "u", "role": "user", "content": f"I am {name}"}] for name in ("a", "b")}
    for _ in range(2):
        await asyncio.gather(*(ask(app, threadId=name, messages=messages) for name, messages in said.items()))
    seen = [
        {str(part.content) for one in asked for part in one.parts if part.part_kind == "user-prompt"}
        for asked in script.requests
    ]
    assert sorted(map(sorted, seen)) == [["I am a"], ["I am a"], ["I am b"], ["I am b"]]
    assert sorted(map(len, script.requests)) == [1, 1, 3, 3]


@pytest.mark.parity("agui-loops")
async def test_a_result_for_nothing_that_waits_is_an_error() -> None:
    script = Script("Never.")
    forged = [{"id": "t", "role": "tool", "toolCallId": "none", "content": "x"}]
    events = sent(await ask(app_of(script), messages=forged))
    assert (events[-1]["code"], script.requests) == ("UNKNOWN_TOOL_CALL", [])


async def test_a_call_that_needs_approval_is_an_interrupt(clients: Clients) -> None:
    done: list[str] = []
    script = Script(("delete", {"name": "a"}), "Deleted.", ("delete", {"name": "b"}), "Kept.")
    agent = Agent(script.model)

    @agent.tool_plain(requires_approval=True)
    def delete(name: str) -> str:
        done.append(name)
        return "gone"

    app = wirewright.create_agui_app(agent)
    edited = {"payload": {"approved": True, "editedArgs": {"name": "c"}}}
    steps = {"message": "Delete a"}, edited, {"message": "Delete b"}, {"payload": {"approved": False}}
    asked, gone, _, kept = await drive(clients, app, *steps)
    assert asked.pending[0]["responseSchema"]["required"] == ["approved"]
    assert (done, gone.text.strip(), kept.text.strip()) == (["c"], "Deleted.", "Kept.")


@pytest.mark.parity("agui-app")
@pytest.mark.parametrize(
    ("origin", "origins", "allowed"),
    [
        ("http://localhost:3000", None, True),
        ("http://127.0.0.1", None, True),
        ("https://evil.example", None, False),
        ("http://localhost.evil.example", None, False),
        ("https://app.example", ["https://app.example"], True),
        ("http://localhost:3000", ["https://app.example"], False),
    ],
)
async def test_pages_of_this_machine_may_use_it_and_those_that_are_named(
    origin: str, origins: list[str] | None, allowed: bool
) -> None:
    app = wirewright.create_agui_app(Agent(Script("Hi.").model), origins=origins)
    headers = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
    }
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as client:
        reply = await client.options("/", headers=headers)
    assert (reply.headers.get("access-control-allow-origin") == origin) is allowed


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"threadId": 1, "runId": "r"}', b"\xff", b'{"threadId": "", "runId": "r"}']
)
async def test_junk_is_refused_before_anything_runs(body: bytes) -> None:
    app = app_of(Script())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as client:
        refused = await client.post("/", content=body, headers={"content-type": "application/json"})
        plain = await client.post("/", content=b"{}", headers={"content-type": "text/plain"})
    assert refused.status_code in {400, 422}
    assert plain.status_code == 415, "a page of another origin can send no such request without being asked for"


@pytest.mark.parity("agui-endpoint", "agui-transport", "agui-models")
async def test_an_endpoint_joins_an_application_of_others(clients: Clients) -> None:
    app = Starlette()
    wirewright.add_agui_endpoint(app, Agent(Script("Hi.").model), "/agents/one")
    [run] = await drive(clients, app, {"message": "Hello"}, endpoint="/agents/one")
    assert (run.error, run.text.strip()) == (None, "Hi.")


@pytest.mark.parity("agui-names")
def test_the_examples_are_served_by_the_public_face() -> None:
    modules: list[ModuleType] = [agentic_chat, backend_tool_rendering, shared_state, agentic_generative_ui]
    assert all(isinstance(module.app, Starlette) for module in modules)
