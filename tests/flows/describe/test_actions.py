"""What each kind of action is called."""

import pytest

from flows.actions import (
    AddComponent,
    Amend,
    Arrange,
    Configure,
    Connect,
    Disconnect,
    FlowAction,
    RemoveComponent,
    SelectOutput,
    SetConnectionMode,
    SetDetail,
    SetFlow,
    SetToolMode,
)
from flows.describe.actions import describe_action, summarize
from flows.document import Flow
from flows.json_values import JsonObject

NODE: JsonObject = {"id": "M-1", "data": {"id": "M-1", "type": "M", "node": {"display_name": "Model"}}}
EDGE: JsonObject = {
    "source": "M-1",
    "target": "X-2",
    "data": {"sourceHandle": {"name": "text"}, "targetHandle": {"fieldName": "input"}},
}
FLOW = Flow({"nodes": [NODE], "edges": []})


@pytest.mark.parametrize(
    ("action", "effect", "subject", "sentence"),
    [
        (AddComponent(NODE), "added", "M-1", "Add Model"),
        (RemoveComponent(NODE, 0), "removed", "M-1", "Remove Model"),
        (Connect(EDGE), "connected", "M-1.text -> X-2.input", "Connect Model.text → X-2.input"),
        (Disconnect(EDGE, 0), "disconnected", "M-1.text -> X-2.input", "Disconnect Model.text → X-2.input"),
        (Configure("M-1", "heat", 1, 2), "changed", "M-1: heat", "Set heat of Model"),
        (SetConnectionMode("M-1", "model", "", "x"), "changed", "M-1", "Set model of Model"),
        (SelectOutput("M-1", "a", "b"), "changed", "M-1", "Choose another output of Model"),
        (SetToolMode("M-1", enabled=True, also=()), "changed", "M-1", "Use Model as a tool"),
        (SetToolMode("M-1", enabled=False, also=()), "changed", "M-1", "Use Model as a step"),
        (Amend("M-1", ()), "changed", "M-1", "Change Model"),
        (Arrange("M-1", "position", {}, {}), "moved", "M-1", "Move Model"),
        (SetDetail(("data", "viewport"), {}, {}), "changed", "data.viewport", "Change a detail of the flow"),
        (SetFlow({}, {}), "replaced", "", "Replace the whole flow"),
    ],
    ids=lambda value: value.kind if hasattr(value, "kind") else "",
)
def test_an_action_is_described_by_its_effect_and_subject(
    action: FlowAction, effect: str, subject: str, sentence: str
) -> None:
    summary = summarize(action)
    assert (summary.effect, summary.subject) == (effect, subject)
    assert describe_action(action, FLOW) == sentence
