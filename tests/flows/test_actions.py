"""Every action can be undone, travels as JSON, and is refused when the flow has moved on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.action_json import ActionFormatError, action_from_json, action_to_json
from flows.actions import (
    AddComponent,
    Arrange,
    Configure,
    Connect,
    Disconnect,
    FlowAction,
    NodeChange,
    RemoveComponent,
    SelectOutput,
    SetFlow,
    StaleAction,
    apply,
    apply_all,
    inverse,
)
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError, add_component, configure, connect, disconnect, remove_component
from flows.json_values import MISSING
from flows.ports import feedback_ports, input_ports, output_ports

TYPES = ["ChatInput", "ChatOutput", "Prompt Template", "CombineText", "Agent", "CalculatorComponent", "LoopComponent"]
TYPES += ["TypeConverterComponent", "LanguageModelComponent", "ParserComponent"]
relaxed = settings(max_examples=60)


def one_step(data: st.DataObject, flow: Flow, catalogue: Catalogue) -> tuple[FlowAction, ...]:
    """Return the actions of one edit drawn from what the flow allows; none when the drawn one is refused."""
    ids = [node.id for node in flow.nodes]
    kind = data.draw(st.sampled_from(["add", "connect", "remove", "disconnect", "configure"] if ids else ["add"]))
    try:
        if kind == "add":
            return add_component(flow, catalogue, data.draw(st.sampled_from(TYPES))).actions
        node = flow.node(data.draw(st.sampled_from(ids)))
        assert node is not None
        if kind == "remove":
            return remove_component(flow, node.id).actions
        if kind == "disconnect":
            return disconnect(flow, node.id).actions
        if kind == "configure":
            field = data.draw(st.sampled_from(sorted(node.template)))
            value = data.draw(st.sampled_from(["x", "{a} {b}", "{b}", "3", True, [], "gpt-4o", ""]))
            return configure(flow, catalogue, node.id, {field: value}).actions
        other = flow.node(data.draw(st.sampled_from(ids)))
        assert other is not None
        outs = [port.name for port in output_ports(node)] + ["component_as_tool"]
        ins = [port.name for port in (*input_ports(other), *feedback_ports(other))]
        if not ins:
            return ()
        return connect(
            flow, catalogue, node.id, data.draw(st.sampled_from(outs)), other.id, data.draw(st.sampled_from(ins))
        ).actions
    except EditError:
        return ()


@relaxed
@given(st.data())
def test_flow_is_as_before_when_actions_are_undone(catalogue: Catalogue, data: st.DataObject):
    flow = Flow.empty()
    history: list[FlowAction] = []
    for _ in range(data.draw(st.integers(1, 14))):
        for action in one_step(data, flow, catalogue):
            after = apply(flow, action)
            assert apply(after, inverse(action)).to_json() == flow.to_json()
            assert inverse(inverse(action)) == action
            assert action_from_json(action_to_json(action)) == action
            history.append(action)
            flow = after
    assert apply_all(flow, [inverse(action) for action in reversed(history)]).to_json() == Flow.empty().to_json()


NODE = {"id": "T-1", "data": {"id": "T-1", "type": "T", "node": {"template": {"a": {"value": 1}, "b": {}}}}}
OTHER = {"id": "T-2", "data": {"id": "T-2", "type": "T"}}
EDGE = {"id": "e", "source": "T-1", "target": "T-2"}
FLOW = Flow.from_json({"nodes": [NODE, OTHER], "edges": [EDGE]})


@pytest.mark.parametrize(
    "action",
    [
        AddComponent({"id": "T-3", "data": {"id": "T-3"}}, 0),
        AddComponent({"id": "T-3"}),
        RemoveComponent(NODE, 0, ((0, EDGE),)),
        Connect({"id": "f", "source": "T-2", "target": "T-1"}),
        Connect({"id": "f", "source": "T-2", "target": "T-1"}, 0),
        Disconnect(EDGE, 0),
        Configure("T-1", "a", 1, "x", (NodeChange(("data", "node", "template", "c"), MISSING, {"value": 2}),)),
        Configure("T-1", "b", MISSING, None),
        Arrange("T-1", "position", MISSING, {"x": 1, "y": 2}),
        SelectOutput("T-1", MISSING, "out"),
        SetFlow(FLOW.raw, {"nodes": [], "edges": []}),
    ],
)
def test_law_of_inverses_holds_for_each_kind(action: FlowAction):
    after = apply(FLOW, action)
    assert after != FLOW
    assert apply(after, inverse(action)).to_json() == FLOW.to_json()
    assert action_from_json(action_to_json(action)) == action


@pytest.mark.parametrize(
    "action",
    [
        AddComponent({"id": "T-1"}),
        AddComponent({"id": "T-9"}, 7),
        RemoveComponent(NODE, 1, ((0, EDGE),)),
        RemoveComponent(NODE, 0),
        Connect({"id": "f", "source": "gone", "target": "T-1"}),
        Connect({"id": "f", "source": "T-2", "target": "T-1"}, 5),
        Disconnect(EDGE, 1),
        Disconnect({**EDGE, "id": "other"}, 0),
        Configure("T-1", "a", 2, 3),
        Configure("T-1", "a", True, 3),
        Configure("T-1", "nothing", MISSING, 3),
        Configure("gone", "a", 1, 3),
        Arrange("T-1", "position", {"x": 9}, {"x": 1}),
        SetFlow({"nodes": [], "edges": []}, FLOW.raw),
    ],
)
def test_action_is_refused_when_the_flow_has_moved_on(action: FlowAction):
    with pytest.raises(StaleAction):
        apply(FLOW, action)


@pytest.mark.parametrize(
    "document",
    [
        None,
        {"kind": "explode"},
        {"kind": "connect"},
        {"kind": "disconnect", "edge": {}},
        {"kind": "configure", "node": 3},
        {"kind": "configure", "node": "a", "field": "b", "also": [{"path": []}]},
        {"kind": "remove_component", "node": {}, "index": 0, "edges": [[1]]},
        {"kind": "disconnect", "edge": {}, "index": True},
    ],
)
def test_document_is_refused_when_it_is_not_an_action(document: object):
    with pytest.raises(ActionFormatError):
        action_from_json(document)


def test_source_flow_is_unchanged_when_an_action_is_applied():
    before = FLOW.to_json()
    apply(FLOW, Configure("T-1", "a", 1, 2))
    apply(FLOW, RemoveComponent(NODE, 0, ((0, EDGE),)))
    assert FLOW.to_json() == before
