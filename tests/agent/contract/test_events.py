"""The laws of the wire: every event of the contract, and every event of a turn, survives JSON."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_ai import AgentStreamEvent, CustomEvent

from agent.contract.events import EVENTS, RewoundEvent, TokenEvent, read_event
from agent.contract.runs import RUN_STREAM_EVENTS, RunStreamEvent
from agent.honesty.remarks import Remark
from agent.turn.result import TurnEnded, TurnResult
from flows.document import Flow
from runtime.run_events import RunEvent
from tests.agent.contract.strategies import ACTIONS, FLOWS, OBJECTS, RUNS, instances, models
from tools.events import (
    FileChange,
    FileWritten,
    FlowPreview,
    FlowUpdate,
    NewComponent,
    Progress,
    RunProgress,
    Todo,
    TodosWritten,
)

TURN_EVENTS: TypeAdapter[AgentStreamEvent] = TypeAdapter(AgentStreamEvent, config=ConfigDict(defer_build=True))
_RESULTS = st.builds(
    TurnResult,
    outcome=st.just("complete"),
    intent=st.just("build_flow"),
    text=st.text(),
    before=FLOWS,
    after=FLOWS,
    proposal=st.none() | FLOWS,
    actions=st.lists(st.one_of(list(ACTIONS.values())), max_size=2),
    runs=st.lists(RUNS, max_size=1),
    components=st.lists(st.builds(NewComponent, class_name=st.text(), source=st.text()), max_size=1),
    seconds=st.floats(0, 1e6),
)
CUSTOM_EVENTS: dict[str, st.SearchStrategy[CustomEvent]] = {
    "progress": st.builds(Progress, step=st.just("generating"), message=st.text()),
    "run_progress": st.builds(RunProgress, event=st.one_of(map(instances, models(RunEvent))), label=st.text()),
    "flow_preview": st.builds(FlowPreview, flow=FLOWS, graph=st.text()),
    "file_written": st.builds(
        FileWritten,
        change=st.builds(FileChange, path=st.text(), size=st.integers(), change=st.just("created")),
        content=st.text(),
        by_run=st.booleans(),
    ),
    "todos_written": st.builds(TodosWritten, todos=st.lists(st.builds(Todo, content=st.text()))),
    "turn_ended": st.builds(TurnEnded, result=_RESULTS),
    "remark": st.builds(Remark, chunk=st.text(), is_new=st.booleans()),
    **{
        f"flow_update {kind}": st.builds(FlowUpdate, action=action, applied=st.booleans(), node=st.none() | OBJECTS)
        for kind, action in ACTIONS.items()
    },
}


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
@given(data=st.data())
@settings(max_examples=30)
def test_every_event_of_the_contract_survives_json(model: type[BaseModel], data: st.DataObject) -> None:
    event: Any = data.draw(instances(model))
    assert read_event(event.model_dump_json()) == event
    assert EVENTS.validate_python(event.model_dump()) == event


@pytest.mark.parametrize("model", models(RunStreamEvent), ids=lambda model: model.__name__)
@given(data=st.data())
@settings(max_examples=30)
def test_every_event_of_a_run_survives_json(model: type[BaseModel], data: st.DataObject) -> None:
    event: Any = data.draw(instances(model))
    assert RUN_STREAM_EVENTS.validate_json(event.model_dump_json()) == event
    if model in models(RunEvent):
        assert TypeAdapter[RunEvent](RunEvent).validate_python(event.model_dump()) == event


@pytest.mark.parametrize("kind", CUSTOM_EVENTS)
@given(data=st.data())
@settings(max_examples=30)
def test_every_event_of_a_turn_survives_json(kind: str, data: st.DataObject) -> None:
    event = data.draw(CUSTOM_EVENTS[kind])
    assert TURN_EVENTS.validate_json(TURN_EVENTS.dump_json(event)) == event


def test_every_custom_event_is_under_the_law() -> None:
    ours = {
        event.__name__
        for event in CustomEvent.__subclasses__()
        if event.__module__.partition(".")[0] not in {"pydantic_ai", "tests"}
    }
    drawn = {
        "Progress",
        "RunProgress",
        "FlowPreview",
        "FileWritten",
        "TodosWritten",
        "TurnEnded",
        "FlowUpdate",
        "Remark",
    }
    assert ours == drawn


def test_optional_keys_are_absent_and_unknown_keys_are_ignored() -> None:
    assert TokenEvent(chunk="Hi").model_dump_json() == '{"event":"token","chunk":"Hi"}'
    sent = '{"event":"token","chunk":"Hi","turn_id":"t1","sequence":3,"later":true}'
    assert read_event(sent) == TokenEvent(chunk="Hi", turn_id="t1", sequence=3)


def test_an_event_of_a_later_contract_is_none_and_one_that_breaks_this_contract_is_refused() -> None:
    assert read_event('{"event":"hologram","depth":3}') is None
    with pytest.raises(ValidationError):
        read_event('{"event":"token"}')
    with pytest.raises(ValidationError):
        read_event('{"event":"flow_update","action":"explode"}')
    with pytest.raises(ValidationError):
        read_event("[]")


def test_a_rewound_stream_says_which_events_are_void_and_what_the_canvas_is() -> None:
    event = RewoundEvent(to=4, flow=Flow.empty("Draft"), turn_id="t1", sequence=9)
    assert event.model_dump()["to"] == 4
    assert read_event(event.model_dump_json()) == event
