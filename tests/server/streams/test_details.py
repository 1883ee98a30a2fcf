"""Streams with details: how the turn started, what the model thinks, and each tool's call and result."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import FunctionToolResultEvent, PartDeltaEvent, PartStartEvent, ThinkingPart, ThinkingPartDelta
from pydantic_ai.messages import FunctionToolCallEvent, ToolCallPart, ToolReturnPart

from agent.contract.events import Event
from agent.models.scripted import call
from flows.catalogue import Catalogue
from server.streams.sse import RESULT_CHARACTERS, SseEncoder
from tests.server.live import FLOWS, serving
from tests.server.streams.following import started
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
EMPTY: dict[str, Any] = {"name": "F", "data": {"nodes": [], "edges": []}}
DETAILS = ("started", "reasoning", "tool_call", "tool_result")


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in events if event["event"] != "progress"]


async def test_calls_and_results_stand_in_order_between_the_changes_that_they_make(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("add_component", 1, type="ChatInput")], "Added it.")
    async with serving(assistant(catalogue, model)) as live:
        stored = (await live.client.post(FLOWS, json={"name": "F", "flow": EMPTY})).json()["id"]
        events = await started(live.client, input_value="Add an input", flow_id=stored, details=True)
    assert kinds(events) == ["started", "tool_call", "flow_update", "tool_result", "complete"]
    begun, called, _, returned, _ = [event for event in events if event["event"] != "progress"]
    assert begun["flow_id"] == stored
    assert begun["flow"]["data"] == {"nodes": [], "edges": []}
    assert (called["tool_name"], called["arguments"]) == ("add_component", {"type": "ChatInput"})
    assert returned["tool_call_id"] == called["tool_call_id"]
    assert not returned["is_error"]
    assert "ChatInput" in returned["content"]


async def test_who_did_not_ask_for_details_gets_none(catalogue: Catalogue) -> None:
    model = ScriptedModel(
        "build_flow", [call("build_flow", 1, spec=ECHO)], [call("run_flow", 2, input="hi")], "Ran it."
    )
    async with serving(assistant(catalogue, model, StandInRunner(results=[ran("hi")]))) as live:
        events = await started(live.client, input_value="Build an echo and run it with hi")
    assert not {*kinds(events)} & {*DETAILS}


async def test_a_call_that_is_sent_back_is_an_error(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("add_component", 1, type="Nonsense")], "There is no such component.")
    async with serving(assistant(catalogue, model)) as live:
        events = await started(live.client, input_value="Add nonsense", details=True)
    [returned] = [event for event in events if event["event"] == "tool_result"]
    assert returned["is_error"]
    assert "Nonsense" in returned["content"]


async def test_a_question_that_waits_has_the_id_of_its_call(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("propose_plan", 1, markdown="1. Build it.")])
    async with serving(assistant(catalogue, model)) as live:
        events = await started(live.client, input_value="Plan a flow", details=True)
    [called] = [event for event in events if event["event"] == "tool_call"]
    [asked] = events[-1]["data"]["approvals"]
    assert asked["id"] == called["tool_call_id"]
    assert "tool_result" not in kinds(events)


def sent(*events: Any) -> list[Event]:
    encoder = SseEncoder("s", details=True)
    return [one for event in events for one in encoder.encode(event)]


def test_thoughts_are_told_piece_by_piece() -> None:
    thought = sent(
        PartStartEvent(index=0, part=ThinkingPart("One")),
        PartDeltaEvent(index=0, delta=ThinkingPartDelta(content_delta=" and")),
        PartDeltaEvent(index=0, delta=ThinkingPartDelta(signature_delta="s")),
        PartStartEvent(index=1, part=ThinkingPart("Two")),
    )
    assert [one.model_dump(include={"chunk", "is_new"}) for one in thought] == [
        {"chunk": "One", "is_new": True},
        {"chunk": " and", "is_new": False},
        {"chunk": "Two", "is_new": True},
    ]


@given(st.text(max_size=200), st.integers(0, 3 * RESULT_CHARACTERS))
def test_results_are_as_long_as_they_may_be(start: str, length: int) -> None:
    content = start + "x" * length
    [told] = sent(FunctionToolResultEvent(part=ToolReturnPart("search", content, tool_call_id="c")))
    told = told.model_dump()
    assert told["content"] == (content if len(content) <= RESULT_CHARACTERS else f"{content[:RESULT_CHARACTERS]}…")


def test_arguments_that_are_no_json_are_told_all_the_same() -> None:
    [told] = sent(FunctionToolCallEvent(part=ToolCallPart("search", '{"query": ', tool_call_id="c")))
    assert isinstance(told.model_dump()["arguments"], dict)
