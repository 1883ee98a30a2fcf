"""Our stream contract: what each event of a turn becomes, and that every frame is one line of JSON."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic_ai import FinalResultEvent, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta, ThinkingPart
from pydantic_ai.messages import FunctionToolCallEvent, ToolCallPart
from pydantic_ai.usage import RunUsage

from agent.contract.endings import ending
from agent.contract.events import CancelledEvent, Stored, TokenEvent
from agent.turn.result import TurnEnded, TurnError, TurnEvent, TurnResult
from flows.actions import (
    AddComponent,
    Arrange,
    Configure,
    Connect,
    Disconnect,
    FlowAction,
    RemoveComponent,
    SelectOutput,
    SetConnectionMode,
    SetFlow,
    SetToolMode,
)
from flows.document import Flow, JsonObject
from flows.faults import Fault
from flows.json_values import MISSING
from runtime.results import RunError, RunMetrics
from server.streams.sse import SseEncoder, frame
from tests.shared.stand_ins import ran
from tools.events import FlowPreview, FlowUpdate, Progress

NODE: JsonObject = {"id": "A-1", "data": {"id": "A-1", "type": "A", "node": {"template": {"f": {"value": 1}}}}}
EDGE: JsonObject = {"id": "e", "source": "A-1", "target": "B-2"}
EMPTY = Flow.from_json({"nodes": [], "edges": []})
ONE = Flow.from_json({"nodes": [NODE], "edges": []})
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def encoded(event: TurnEvent) -> list[JsonObject]:
    return [sent.model_dump() for sent in SseEncoder("s").encode(event)]


def ended(result: TurnResult, stored: Stored | None = None) -> JsonObject:
    return ending(result, "s", stored).model_dump()


def result(**given: object) -> TurnResult:
    facts = {
        "outcome": "complete",
        "intent": "build_flow",
        "text": "Done.",
        "before": EMPTY,
        "after": ONE,
        "seconds": 0.5,
    }
    return TurnResult.model_validate({**facts, **given})


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_a_frame_is_one_line_that_gives_the_event_back(event: JsonObject) -> None:
    written = frame(event).decode()
    assert written.startswith("data: ")
    assert written.endswith("\n\n")
    assert len(written.splitlines()) == 2, "not even a client with a generous idea of lines cuts it"
    assert json.loads(written.removeprefix("data: ")) == event


def test_values_that_json_does_not_allow_do_not_break_a_stream() -> None:
    assert frame({"a": float("nan"), "b": float("inf")}) == b'data: {"a":null,"b":null}\n\n'
    assert json.loads(frame({"a": "half \ud800"}).removeprefix(b"data: ")) == {"a": "half \ud800"}


@pytest.mark.parity("base-term-progress-step")
def test_progress_has_the_seeds_keys() -> None:
    assert encoded(Progress(step="building_flow", message="Building...", attempt=2)) == snapshot(
        [{"event": "progress", "step": "building_flow", "attempt": 2, "max_attempts": 3, "message": "Building..."}]
    )


def test_text_becomes_tokens_the_first_piece_included() -> None:
    encoder = SseEncoder("s")
    events: list[TurnEvent] = [
        PartStartEvent(index=0, part=TextPart("Hel")),
        PartDeltaEvent(index=0, delta=TextPartDelta("lo")),
        PartDeltaEvent(index=0, delta=TextPartDelta("")),
        PartStartEvent(index=0, part=TextPart("Again")),
    ]
    sent = [one for event in events for one in encoder.encode(event)]
    assert sent == [TokenEvent(chunk=chunk) for chunk in ("Hel", "lo", "\n\nAgain")]


@pytest.mark.parametrize(
    "event",
    [
        PartStartEvent(index=0, part=ThinkingPart("hm")),
        PartStartEvent(index=0, part=TextPart("")),
        PartStartEvent(index=0, part=ToolCallPart("run_flow", {})),
        FunctionToolCallEvent(ToolCallPart("run_flow", {})),
        FinalResultEvent(tool_name=None, tool_call_id=None),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_happens_inside_stays_inside(event: TurnEvent) -> None:
    assert encoded(event) == []


@pytest.mark.parametrize(
    ("action", "facts"),
    [
        (AddComponent(NODE), {"action": "add_component", "node": NODE}),
        (
            AddComponent(NODE, 0, ((0, EDGE),)),
            {"action": "add_component", "node": NODE, "edges": [EDGE]},
        ),
        (RemoveComponent(NODE, 0), {"action": "remove_component", "component_id": "A-1"}),
        (Connect(EDGE), {"action": "connect", "edge": EDGE}),
        (Disconnect(EDGE, 0), {"action": "disconnect", "edge": EDGE}),
        (
            SelectOutput("A-1", MISSING, "out"),
            {"action": "select_output", "component_id": "A-1", "output_name": "out"},
        ),
        (
            SetConnectionMode("A-1", "model", "", "connect_other_models"),
            {"action": "set_connection_mode", "component_id": "A-1", "field": "model", "enabled": True},
        ),
        (SetToolMode("A-1", True, ()), {"action": "set_tool_mode", "component_id": "A-1", "enabled": True}),
        (
            Arrange("A-1", "position", MISSING, {"x": 1, "y": 2}),
            {"action": "arrange", "component_id": "A-1", "key": "position", "value": {"x": 1, "y": 2}},
        ),
        (SetFlow(EMPTY.raw, ONE.raw), {"action": "set_flow", "flow": ONE.raw, "auto_apply": True}),
        (Configure("A-1", "g", MISSING, 2), {"action": "configure", "component_id": "A-1", "params": {"g": 2}}),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
@pytest.mark.parity("term-flow-update-action")
def test_each_change_has_the_seeds_keys(action: FlowAction, facts: JsonObject) -> None:
    assert encoded(FlowUpdate(action=action)) == [{"event": "flow_update", **facts}]


def test_a_changed_node_is_given_whole_as_it_is_afterwards() -> None:
    (update,) = encoded(FlowUpdate(action=Configure("A-1", "f", 1, 2), node=NODE))
    assert update == {
        "event": "flow_update",
        "action": "configure",
        "component_id": "A-1",
        "params": {"f": 2},
        "node": NODE,
    }


def test_a_proposed_flow_waits_and_an_applied_one_does_not() -> None:
    (offered,) = encoded(FlowUpdate(action=SetFlow(EMPTY.raw, ONE.raw), applied=False))
    assert offered["auto_apply"] is False
    (applied,) = encoded(FlowUpdate(action=SetFlow(EMPTY.raw, ONE.raw)))
    assert applied["auto_apply"] is True


@pytest.mark.parity("term-flow-preview")
def test_a_preview_shows_the_whole_flow() -> None:
    assert encoded(FlowPreview(flow=ONE, graph="[A]")) == [
        {"event": "flow_preview", "flow": ONE.raw, "name": "", "node_count": 1, "edge_count": 0, "graph": "[A]"}
    ]


@pytest.mark.parity("ADR-023", "base-term-per-turn-usage", "base-term-per-turn-duration")
def test_a_plain_answer_completes_with_zeros_for_the_demo() -> None:
    assert encoded(TurnEnded(result=result(outcome="refused", intent="off_topic", after=EMPTY))) == snapshot(
        [
            {
                "event": "complete",
                "data": {
                    "result": "Done.",
                    "intent": "off_topic",
                    "session_id": "s",
                    "flow": {"nodes": [], "edges": []},
                    "actions": 0,
                    "faults": [],
                    "caveats": [],
                    "model": None,
                    "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
                    "duration_seconds": 0.5,
                    "record": {
                        "proposal": None,
                        "changes": [],
                        "components": [],
                        "files": [],
                        "plans": [],
                        "installs": [],
                        "runs": [],
                        "waiting": False,
                        "not_done": [],
                        "disagrees": False,
                        "text": "",
                    },
                },
            }
        ]
    )


@pytest.mark.parity(
    "ADR-MCP-033", "base-term-run-metrics", "term-run-metrics", "term-metrics-envelope", "base-term-metrics-envelope"
)
def test_a_turn_that_ran_tells_the_last_run_and_sums_its_phases() -> None:
    metrics = RunMetrics(seconds=0.1, input_tokens=3, output_tokens=4)
    run = replace(ran("two"), metrics=metrics)
    usage = {"intent": RunUsage(input_tokens=10, output_tokens=1), "main": RunUsage(input_tokens=20, output_tokens=2)}
    done = result(runs=[ran("one"), run], usage=usage, models=["a", "b"], proposal=ONE, after=EMPTY)
    data = ended(done, Stored(saved=True))["data"]
    assert isinstance(data, dict)
    assert data["usage"] == {"input_tokens": 30, "output_tokens": 3, "total_tokens": 33}
    assert data["run"] == run.to_json()
    assert data["run_metrics"] == snapshot(
        {"duration_seconds": 0.1, "input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    )
    assert (data["model"], data["proposal"], data["flow"], data["saved"]) == ("b", ONE.raw, EMPTY.raw, True)


def test_a_built_flow_is_validated_only_without_errors_and_caveats() -> None:
    def validated(**given: object) -> object:
        data = ended(result(actions=[Connect(EDGE)], **given))["data"]
        assert isinstance(data, dict)
        return data.get("validated")

    fault = Fault(code="cycle", message="There is a cycle.", fix="Break it.")
    warning = Fault(code="orphan", message="Alone.", fix="Connect it.", severity="warning")
    assert validated() is True
    assert validated(faults=[warning]) is True
    assert validated(faults=[fault]) is False
    assert validated(caveats=["It was not run."]) is False
    assert "validated" not in str(ended(result()))


def test_a_failed_run_has_its_error_in_the_stream() -> None:
    error = RunError(code="timeout", message="It took too long.", fix="Do less.")
    data = ended(result(runs=[ran(error=error)]))["data"]
    assert isinstance(data, dict)
    assert isinstance(data["run"], dict)
    assert data["run"]["error"] == error.to_json()


def test_a_failed_turn_ends_with_its_words_and_what_it_cost() -> None:
    error = TurnError(code="rate_limit", message="Rate limit exceeded.", fix="Wait.")
    assert ended(result(outcome="error", error=error)) == snapshot(
        {
            "event": "error",
            "message": "Rate limit exceeded.",
            "code": "rate_limit",
            "fix": "Wait.",
            "session_id": "s",
            "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
            "duration_seconds": 0.5,
        }
    )


def test_a_stopped_turn_says_so() -> None:
    assert ended(result(outcome="cancelled")) == {"event": "cancelled", "message": "The turn was cancelled."}
    assert CancelledEvent(message="Bye.", saved=True).model_dump() == {
        "event": "cancelled",
        "message": "Bye.",
        "saved": True,
    }


def test_an_event_is_framed_as_its_json() -> None:
    assert frame(TokenEvent(chunk="Hi")) == b'data: {"event":"token","chunk":"Hi"}\n\n'
    assert frame(TokenEvent(chunk="half \ud800")) == b'data: {"event":"token","chunk":"half \\ud800"}\n\n'
