"""The same turn, told by the same script, leads through every door to the same flow, questions and answer.

A door is a row of `DOORS`: it makes something that says a message, and answers what is asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from agent.contract.events import CompleteData
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.server.live import FLOWS, Live, events, serving
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


async def played(make: Callable[[Live, str], Door], catalogue: Catalogue, decision: str) -> tuple[list[Heard], Any]:
    """What is heard at a door in two turns, and the flow afterwards without what differs from play to play."""
    canvas = flow_of(LOUDER, catalogue)
    wish = whisper(canvas, step=2)
    model = ScriptedModel("build_flow", [call("add_component", 1, type="ChatInput"), wish], "I changed the prompt.")
    node = node_id(canvas, "Prompt Template")
    args = {"component_id": node, "values": {"template": "Sing: {text}"}} if decision == "changed" else None
    async with serving(assistant(catalogue, model)) as live:
        flow = (await live.client.post(FLOWS, json={"name": "F", "flow": canvas.to_json()})).json()["id"]
        door = make(live, flow)
        first = await door.say("Add an input, and whisper")
        second = await door.decide(wish.tool_call_id, approved=decision != "no", args=args)
        stored = Flow.from_json((await live.client.get(f"{FLOWS}/{flow}")).json()["flow"])
    values = [one.value("template") for one in stored.nodes if one.id == node]
    return [first, second], (sorted(one.type for one in stored.nodes), len(stored.edges), values)


def plain(heard: Heard) -> list[Any]:
    """What was asked, without ids that are made anew in each play."""
    asked = [{name: one[name] for name in ("kind", "new_value", "old_value")} for one in heard.questions.values()]
    return [*heard.questions, *asked]


@pytest.mark.parametrize("decision", ["yes", "no", "changed"])
async def test_every_door_leads_to_the_same_flow_questions_and_answer(catalogue: Catalogue, decision: str) -> None:
    ends = {name: await played(make, catalogue, decision) for name, make in DOORS.items()}
    heard, flow = ends["own"]
    assert [list(one.questions) for one in heard] == [["call_1_2_configure_component"], []]
    assert heard[0].calls == ["add_component", "configure_component"]
    for name, (theirs, their_flow) in ends.items():
        assert their_flow == flow, name
        for own, other in zip(heard, theirs, strict=True):
            assert plain(other) == plain(own), name
            assert own.answer in other.answer, name
        assert theirs[0].calls == heard[0].calls, name
