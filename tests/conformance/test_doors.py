"""The same turn, told by the same script, leads through every door to the same flow, questions and answer.

A door is a row of `DOORS`: it makes something that says a message, and answers what is asked. MCP has no messages:
there, the client's model calls the tools that the script calls.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from pydantic_ai import ToolCallPart

from agent.contract.events import CompleteData
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.server.live import FLOWS, Live, events, serving
from tests.server.mcp.clients import WITH_SESSIONS, WITHOUT
from tests.server.routes.aisdk.chats import Chat
from tests.server.routes.test_agui import run
from tests.server.routes.test_approvals import whisper
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Heard:
    """What a turn has come to, as its client sees it.

    Attributes:
        answer: the answer; doors that show people text alone have the record of what was done in it, too.
        calls: the tools that were called, in order.
        questions: the ids of what waits, with what is asked.
    """

    answer: str
    calls: list[str]
    questions: dict[str, Any]


class Door(Protocol):
    """A way to talk with the assistant about one flow."""

    async def say(self, text: str) -> Heard:
        """Send a message."""
        ...

    async def decide(self, call: str, *, approved: bool, args: dict[str, Any] | None = None) -> Heard:
        """Answer what waits."""
        ...


class OwnStream:
    """Our own contract."""

    def __init__(self, live: Live, flow: str) -> None:
        self._live = live
        self._flow = flow

    async def say(self, text: str) -> Heard:
        """Send a message."""
        return await self._turn(input_value=text)

    async def decide(self, call: str, *, approved: bool, args: dict[str, Any] | None = None) -> Heard:
        """Answer what waits."""
        return await self._turn(approvals={call: {"decision": "approve" if approved else "deny", "args": args}})

    async def _turn(self, **request: object) -> Heard:
        told = await events(self._live.client, session_id="s", flow_id=self._flow, details=True, **request)
        data = CompleteData.model_validate(told[-1]["data"])
        calls = [event["tool_name"] for event in told if event["event"] == "tool_call"]
        return Heard(data.result.strip(), calls, {one.id: one.model_dump(mode="json") for one in data.approvals or ()})


class AiSdk:
    """The AI SDK's UI message stream."""

    def __init__(self, live: Live, flow: str) -> None:
        self._chat = Chat(live.client, body={"flowId": flow})

    async def say(self, text: str) -> Heard:
        """Send a message."""
        return self._heard(await self._chat.say(text))

    async def decide(self, call: str, *, approved: bool, args: dict[str, Any] | None = None) -> Heard:
        """Answer what waits."""
        self._chat.decide(call, approved)
        return self._heard(await self._chat.answer(**({} if args is None else {"toolArguments": {call: args}})))

    def _heard(self, seen: list[dict[str, Any]]) -> Heard:
        told = {chunk["id"]: chunk["data"] for chunk in seen if chunk["type"] == "data-approval"}
        asked = {chunk["approvalId"] for chunk in seen if chunk["type"] == "tool-approval-request"}
        assert asked == set(told)
        called = [chunk for chunk in seen if chunk["type"] == "tool-input-available"]
        answer = "".join(chunk["delta"] for chunk in seen if chunk["type"] == "text-delta")
        return Heard(answer, [chunk["toolName"] for chunk in called], told)


class AgUi:
    """AG-UI."""

    def __init__(self, live: Live, flow: str) -> None:
        self._live = live
        self._flow = flow
        self._messages: list[dict[str, Any]] = []
        self._runs = 0

    async def say(self, text: str) -> Heard:
        """Send a message."""
        self._messages.append({"id": "u", "role": "user", "content": text})
        return await self._run()

    async def decide(self, call: str, *, approved: bool, args: dict[str, Any] | None = None) -> Heard:
        """Answer what waits."""
        payload = {"approved": approved} | ({} if args is None else {"editedArgs": args})
        return await self._run(resume=[{"interruptId": call, "status": "resolved", "payload": payload}])

    async def _run(self, **fields: Any) -> Heard:
        self._runs += 1
        named: dict[str, Any] = {"forwardedProps": {"flow_id": self._flow}, "messages": self._messages, **fields}
        told = await run(self._live.client, f"r{self._runs}", **named)
        self._messages.append({"id": f"a{self._runs}", "role": "assistant", "content": ""})
        interrupts = told[-1]["outcome"].get("interrupts", [])
        calls = [event["toolCallName"] for event in told if event["type"] == "TOOL_CALL_START"]
        answer = "".join(event["delta"] for event in told if event["type"] == "TEXT_MESSAGE_CONTENT")
        return Heard(answer, calls, {one["id"]: one["metadata"]["approval"] for one in interrupts})


DOORS: Mapping[str, Callable[[Live, str], Door]] = {"own": OwnStream, "ai-sdk": AiSdk, "ag-ui": AgUi}


class Mcp:
    """MCP: the client's model makes the calls of the script, and its user answers what they ask.

    Args:
        client: the official client.
        flow: the stored flow.
        calls: what the script calls.
        asked: what the client's user is asked, with what takes their answer.
    """

    def __init__(
        self, client: Client, flow: str, calls: Sequence[ToolCallPart], asked: "asyncio.Queue[_Elicited]"
    ) -> None:
        self._client = client
        self._flow = flow
        self._calls = list(calls)
        self._asked = asked
        self._open: tuple[asyncio.Task[str], _Elicited] | None = None

    async def say(self, text: str) -> Heard:
        """Make the calls, up to the one that asks."""
        assert text
        called: list[str] = []
        for one in self._calls:
            called.append(one.tool_name)
            calling, asking = asyncio.create_task(self._call(one)), asyncio.create_task(self._asked.get())
            await asyncio.wait({calling, asking}, return_when=asyncio.FIRST_COMPLETED)
            if calling.done():
                asking.cancel()
                continue
            self._open = calling, asking.result()
            return Heard("", called, {one.tool_call_id: self._open[1].params})
        return Heard("", called, {})

    async def decide(self, call: str, *, approved: bool, args: dict[str, Any] | None = None) -> Heard:
        """Answer what waits."""
        del call
        assert self._open is not None
        calling, elicited = self._open
        text: dict[str, str] = {} if args is None else {"text": args["values"]["template"]}
        elicited.answer.set_result(types.ElicitResult(action="accept", content={"approve": approved, **text}))
        return Heard(await calling, [], {})

    async def _call(self, one: ToolCallPart) -> str:
        result = await self._client.call_tool(one.tool_name, {"flow_id": self._flow, **one.args_as_dict()})
        return str(result.content)


@dataclass(frozen=True)
class _Elicited:
    params: Any
    answer: "asyncio.Future[types.ElicitResult]"


@asynccontextmanager
async def over_mcp(live: Live, flow: str, mode: str, calls: Sequence[ToolCallPart]) -> AsyncGenerator[Mcp]:
    """The door of MCP, in one of the two forms of the protocol."""
    asked: asyncio.Queue[_Elicited] = asyncio.Queue()

    async def elicited(_: Any, params: Any) -> types.ElicitResult:
        one = _Elicited(params, asyncio.get_running_loop().create_future())
        await asked.put(one)
        return await one.answer

    callback: Any = elicited
    headers = {"Authorization": live.client.headers["Authorization"]}
    url = f"{str(live.client.base_url).rstrip('/')}/mcp"
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, elicitation_callback=callback) as client,
    ):
        yield Mcp(client, flow, calls, asked)


def script_of(canvas: Flow) -> list[ToolCallPart]:
    """The calls of the turn: one that asks nothing, and one that asks about a text of the user's."""
    return [call("add_component", 1, type="ChatInput"), whisper(canvas, step=2)]


@asynccontextmanager
async def door_at(name: str, live: Live, flow: str, calls: Sequence[ToolCallPart]) -> AsyncGenerator[Door]:
    """A door by its name."""
    if name in DOORS:
        yield DOORS[name](live, flow)
        return
    async with over_mcp(live, flow, WITHOUT if name == "mcp without sessions" else WITH_SESSIONS, calls) as door:
        yield door


async def played(name: str, catalogue: Catalogue, decision: str) -> tuple[list[Heard], Any]:
    """What is heard at a door in two turns, and the flow afterwards without what differs from play to play."""
    canvas = flow_of(LOUDER, catalogue)
    calls = script_of(canvas)
    model = ScriptedModel("build_flow", calls, "I changed the prompt.")
    node = node_id(canvas, "Prompt Template")
    args = {"component_id": node, "values": {"template": "Sing: {text}"}} if decision == "changed" else None
    async with serving(assistant(catalogue, model)) as live:
        flow = (await live.client.post(FLOWS, json={"name": "F", "flow": canvas.to_json()})).json()["id"]
        async with door_at(name, live, flow, calls) as door:
            first = await door.say("Add an input, and whisper")
            second = await door.decide(calls[-1].tool_call_id, approved=decision != "no", args=args)
        stored = Flow.from_json((await live.client.get(f"{FLOWS}/{flow}")).json()["flow"])
    values = [one.value("template") for one in stored.nodes if one.id == node]
    return [first, second], (sorted(one.type for one in stored.nodes), len(stored.edges), values)


def plain(heard: Heard) -> list[Any]:
    """What was asked, without ids that are made anew in each play."""
    asked = [{name: one[name] for name in ("kind", "new_value", "old_value")} for one in heard.questions.values()]
    return [*heard.questions, *asked]


@pytest.mark.parity("ADR-MCP-022", "ADR-MCP-023", "term-silent-send", "term-internal-send", "term-hidden-message")
@pytest.mark.parametrize("decision", ["yes", "no", "changed"])
async def test_every_door_leads_to_the_same_flow_questions_and_answer(catalogue: Catalogue, decision: str) -> None:
    ends = {name: await played(name, catalogue, decision) for name in DOORS}
    heard, flow = ends["own"]
    assert [list(one.questions) for one in heard] == [["call_1_2_configure_component"], []]
    assert heard[0].calls == ["add_component", "configure_component"]
    for name, (theirs, their_flow) in ends.items():
        assert their_flow == flow, name
        for own, other in zip(heard, theirs, strict=True):
            assert plain(other) == plain(own), name
            assert own.answer in other.answer, name
        assert theirs[0].calls == heard[0].calls, name


@pytest.mark.parametrize("decision", ["yes", "no", "changed"])
@pytest.mark.parametrize("name", ["mcp", "mcp without sessions"])
async def test_the_same_calls_over_mcp_lead_to_the_same_flow_and_questions(
    catalogue: Catalogue, name: str, decision: str
) -> None:
    heard, flow = await played("own", catalogue, decision)
    theirs, their_flow = await played(name, catalogue, decision)
    assert their_flow == flow
    assert theirs[0].calls == heard[0].calls
    ((asked, question),) = heard[0].questions.items()
    ((theirs_asked, form),) = theirs[0].questions.items()
    assert theirs_asked == asked
    assert repr(question["old_value"]) in form.message
    assert repr(question["new_value"]) in form.message
    assert form.requested_schema["properties"]["text"]["default"] == question["new_value"]
    assert ("said no" in theirs[1].answer) == (decision == "no")
