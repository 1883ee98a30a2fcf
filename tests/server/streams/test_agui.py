"""The translation into AG-UI: whatever a turn tells, the run follows the protocol's rules."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contract.details import ReasoningEvent, RemarkEvent, StartedEvent, ToolCallEvent, ToolResultEvent
from agent.contract.events import (
    CancelledEvent,
    CompleteData,
    CompleteEvent,
    ErrorEvent,
    Event,
    ProgressEvent,
    TodosEvent,
    TokenCount,
    TokenEvent,
)
from agent.contract.flow_updates import ComponentAdded, ComponentRemoved, Connected, FlowUpdateEvent
from agent.contract.questions import PlanQuestion, Question, RemovalQuestion, ToolQuestion
from flows.catalogue import Catalogue
from flows.document import Edge, Flow, Node
from server.agui.state import SharedState
from server.streams.agui import AguiTranslation
from tests.shared.flow_texts import ECHO, flow_of

TEXT = st.text(min_size=1, max_size=8)
CALLS = st.integers(0, 5).map(str)
EVENTS = st.one_of(
    TEXT.map(lambda text: TokenEvent(chunk=text)),
    st.builds(ReasoningEvent, chunk=st.text(max_size=4), is_new=st.booleans()),
    st.builds(RemarkEvent, chunk=st.text(max_size=4), is_new=st.booleans()),
    st.builds(
        ProgressEvent,
        step=st.sampled_from(["generating", "x"]),
        attempt=st.just(1),
        max_attempts=st.just(1),
        message=TEXT,
    ),
    st.just(TodosEvent(todos=[])),
)
ENDINGS = st.one_of(
    st.text(max_size=8).map(lambda text: CompleteEvent(data=CompleteData(result=text))),
    st.just(CompleteEvent(data=CompleteData(approvals=[PlanQuestion(id="p", markdown="1. Build")]))),
    st.just(ErrorEvent(message="It failed.", code="internal")),
    st.just(CancelledEvent(reason="stopped")),
)


def frames(translation: AguiTranslation, *events: Event) -> list[dict[str, Any]]:
    """The events of a run, as a client reads them."""
    written = b"".join(frame for event in events for frame in translation.frames(event))
    return [json.loads(line.removeprefix(b"data: ")) for line in written.split(b"\n\n") if line]


def run(*events: Event, **options: Any) -> list[dict[str, Any]]:
    """What the events of a turn become."""
    return frames(AguiTranslation("t", "r", **options), *events)


def check_rules(events: list[dict[str, Any]]) -> None:
    """What clients of version 1.0 refuse does not occur."""
    types = [event["type"] for event in events]
    assert types[0] == "RUN_STARTED"
    assert types[-1] in {"RUN_FINISHED", "RUN_ERROR"}
    assert not {"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR"} & {*types[1:-1]}
    opened: list[tuple[str, str]] = []
    begun: list[str] = []
    for event in events:
        kind, _, phase = event["type"].rpartition("_")
        name = str(event.get("messageId") or event.get("toolCallId") or event.get("stepName"))
        if kind in {"TEXT_MESSAGE", "REASONING_MESSAGE", "TOOL_CALL", "REASONING", "STEP"}:
            if phase in {"START", "STARTED"}:
                assert (kind, name) not in opened
                opened.append((kind, name))
                begun += [name] if kind in {"TEXT_MESSAGE", "TOOL_CALL"} else []
            elif phase in {"END", "FINISHED"}:
                opened.remove((kind, name))
            elif phase in {"CONTENT", "ARGS"}:
                assert (kind, name) in opened
        assert None not in event.values(), "optional fields are absent, never null"
        assert event["type"] != "TEXT_MESSAGE_CONTENT" or event["delta"]
    assert opened == []
    assert len({*begun}) == len(begun)


@pytest.mark.parity("stream-unique-ids", "stream-json-safe", "agui-lifecycle")
@given(st.lists(EVENTS, max_size=12), ENDINGS, st.sampled_from(["1.0", None]))
def test_every_turn_becomes_a_run_that_clients_accept(told: list[Event], ending: Event, version: str | None) -> None:
    check_rules(run(*told, ending, version=version))


@pytest.mark.parity("stream-matched-results", "stream-tool-items")
@given(st.lists(CALLS, unique=True, max_size=4))
def test_every_result_has_the_id_of_its_call(calls: list[str]) -> None:
    told: list[Event] = [ToolCallEvent(tool_call_id=call, tool_name="find", arguments={"q": call}) for call in calls]
    told += [ToolResultEvent(tool_call_id=call, tool_name="find", content=call) for call in reversed(calls)]
    events = run(*told, CompleteEvent(data=CompleteData(result="Done.")))
    check_rules(events)
    results = {one["toolCallId"]: one["content"] for one in events if one["type"] == "TOOL_CALL_RESULT"}
    assert results == {call: call for call in calls}
    written = [json.loads(one["delta"])["q"] for one in events if one["type"] == "TOOL_CALL_ARGS"]
    assert written == calls


def test_the_same_events_become_the_same_frames_so_that_a_run_can_be_followed_again(catalogue: Catalogue) -> None:
    told = [
        StartedEvent(session_id="t", flow=flow_of(ECHO, catalogue)),
        ReasoningEvent(chunk="Hm", is_new=True),
        TokenEvent(chunk="Hi"),
        CompleteEvent(data=CompleteData(result="Hi")),
    ]
    assert run(*told) == run(*told)


def test_an_answer_that_was_streamed_is_not_said_twice() -> None:
    ending = CompleteEvent(data=CompleteData(result="Hi there.\n\nA notice."))
    said = [one["delta"] for one in run(TokenEvent(chunk="Hi there."), ending) if one["type"] == "TEXT_MESSAGE_CONTENT"]
    assert said == ["Hi there.", "A notice."]
    ending = CompleteEvent(data=CompleteData(result="Hi there."))
    said = [one["delta"] for one in run(TokenEvent(chunk="Hi there."), ending) if one["type"] == "TEXT_MESSAGE_CONTENT"]
    assert said == ["Hi there."]


def test_questions_are_interrupts_and_calls_of_the_front_end_are_none() -> None:
    asked: list[Question] = [
        RemovalQuestion(id="r", title="Remove it?", targets=["a"]),
        ToolQuestion(id="c", tool_name="paint", arguments={}),
    ]
    usage = TokenCount(input_tokens=1, output_tokens=2, total_tokens=3)
    data = CompleteData(approvals=asked, usage=usage, model="m")
    finished = run(CompleteEvent(data=data))[-1]
    assert [(one["id"], one["message"]) for one in finished["outcome"]["interrupts"]] == [("r", "Remove it?")]
    assert finished["usage"] == [{"model": "m", "inputTokens": 1, "outputTokens": 2, "totalTokens": 3}]
    assert run(CompleteEvent(data=CompleteData(approvals=asked[1:])))[-1]["outcome"] == {"type": "success"}


def test_a_run_of_another_thread_tells_nothing() -> None:
    told = run(StartedEvent(session_id="other", flow=Flow.empty()), TokenEvent(chunk="secret"))
    assert [one["type"] for one in told] == ["RUN_STARTED", "RUN_ERROR"]


def test_events_that_cannot_be_read_end_the_run() -> None:
    translation = AguiTranslation("t", "r")
    begun = frames(translation, TokenEvent(chunk="Hi"))
    ended = [json.loads(frame.removeprefix(b"data: ")) for frame in translation.cut()]
    check_rules([*begun, *ended])
    assert ended[-1]["code"] == "events_unavailable"


def patched(state: Any, patch: list[Any]) -> Any:
    """A state after a JSON Patch, by RFC 6902, as far as states are patched."""
    state = json.loads(json.dumps(state))
    for one in patch:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in one["path"].split("/")[1:]]
        parent = state
        for part in path:
            parent = parent[part]
        assert (last in parent) is (one["op"] != "add")
        if one["op"] == "remove":
            del parent[last]
        else:
            parent[last] = one["value"]
    return state


@pytest.mark.parity("stream-no-reload")
@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "connect"]), st.integers(0, 400)), max_size=30))
def test_patches_lead_to_the_state_that_a_snapshot_would_have(
    catalogue: Catalogue, changes: list[tuple[str, int]]
) -> None:
    echo = flow_of(ECHO, catalogue)
    source, edge = echo.nodes[0].raw, echo.edges[0]
    target = edge.target
    nodes: dict[str, Any] = {node.id: node.raw for node in echo.nodes}
    edges: dict[str, Any] = {one.text: one.raw for one in echo.edges}
    shared = SharedState(echo, "f")
    state: Any = shared.snapshot
    for kind, number in changes:
        name = f"ChatInput/{number}~{'x' * (number % 7) * 100}"
        told: FlowUpdateEvent
        if kind == "add":
            raw: Any = {**source, "id": name, "data": {**source["data"], "id": name}}  # type: ignore[dict-item]  # JSON
            nodes[name] = raw
            told = ComponentAdded(node=raw)
        elif kind == "remove":
            nodes.pop(name, None)
            edges = {text: one for text, one in edges.items() if name not in (Edge(one).source, Edge(one).target)}
            told = ComponentRemoved(component_id=name)
        else:
            if name not in nodes:
                continue
            joined: Any = {**edge.raw, "id": name, "source": name, "target": target}
            edges[Edge(joined).text] = joined
            told = Connected(edge=joined)
        state = patched(state, shared.change(told))
    whole = Flow({**echo.raw, "data": {"nodes": [*nodes.values()], "edges": [*edges.values()]}})
    assert {Node(raw).id for raw in nodes.values()} == {node.id for node in whole.nodes}
    detail = state["flow"]["detail"]
    again: Any = SharedState(whole, "f").snapshot
    if detail == again["flow"]["detail"]:
        assert state == again
    assert len(json.dumps(state)) < 20_000
