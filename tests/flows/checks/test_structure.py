"""Circles, loops, tools, names and what the bare engine cannot run are told, each with its own code."""

from collections.abc import Callable
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow
from flows.edits import add_component, configure, disconnect, duplicate, rename
from flows.edits.fitting import given_types
from flows.ports import Port, find_input, make_edge
from tests.shared.flow_texts import BARE_ECHO, LOOP, TOOLS

Built = Callable[[str], tuple[Flow, dict[str, str]]]
ROUTER = """\
nodes:
  A: ChatInput
  C: CombineText
  R: ConditionalRouter
  B: ChatOutput
edges:
  A.message -> C.text1
  C.combined_text -> R.input_text
  R.true_result -> B.input_value
config:
  R.match_text: x
"""


def codes(flow: Flow, catalogue: Catalogue) -> list[tuple[str, str]]:
    return [(fault.code, fault.severity) for fault in check(flow, catalogue)]


def with_edge(flow: Flow, source: str, output: str, target: str, entry: str) -> Flow:
    """The flow with an edge that no edit would make."""
    start, end = flow.node(source), flow.node(target)
    assert start is not None
    assert end is not None
    edge = make_edge(start, Port(name=output, types=given_types(start, output)), end, find_input(end, entry))
    document = flow.to_json()
    document["data"]["edges"].append(edge)
    return Flow.from_json(document)


def test_a_whole_loop_is_not_a_cycle(built: Built, catalogue: Catalogue):
    assert codes(built(LOOP)[0], catalogue) == []


def test_a_circle_is_an_error_even_when_a_branch_could_leave_it(built: Built, catalogue: Catalogue):
    flow, ids = built(ROUTER)
    flow = with_edge(flow, ids["R"], "false_result", ids["C"], "text2")
    assert codes(flow, catalogue) == [("cycle", "error")]


def test_a_loop_to_which_nothing_leads_back_is_open(built: Built, catalogue: Catalogue):
    flow, ids = built(LOOP)
    flow = disconnect(flow, ids["T"], "data_output", ids["L"], "item").flow
    (fault,) = [fault for fault in check(flow, catalogue) if fault.code == "open_loop"]
    assert (fault.severity, fault.node, fault.port) == ("error", ids["L"], "item")


def test_a_loop_without_anything_to_go_through_is_open(built: Built, catalogue: Catalogue):
    flow, ids = built(LOOP)
    flow = disconnect(flow, ids["S"], "dataframe", ids["L"], "data").flow
    assert ("open_loop", "warning") in codes(flow, catalogue), "the chat input no longer leads to it"
    flow = Flow.from_json(
        {
            "nodes": [node.raw for node in flow.nodes if node.id not in (ids["A"], ids["S"])],
            "edges": [edge.raw for edge in flow.edges if edge.source not in (ids["A"], ids["S"])],
        }
    )
    assert ("open_loop", "error") in codes(flow, catalogue)


@pytest.mark.parametrize(
    ("source", "output", "target", "entry"),
    [("A", "message", "P", "pattern"), ("D", "parsed_text", "P", "pattern"), ("P", "parsed_text", "D", "pattern")],
)
def test_an_edge_across_a_loop_s_border_is_reported(
    source: str, output: str, target: str, entry: str, built: Built, catalogue: Catalogue
):
    flow, ids = built(LOOP)
    flow = with_edge(flow, ids[source], output, ids[target], entry)
    found = [fault for fault in check(flow, catalogue) if fault.is_error]
    assert [(fault.code, fault.node, fault.port) for fault in found] == [("loop_border", ids[target], entry)]


def test_a_step_may_use_what_does_not_come_from_the_chat(built: Built, catalogue: Catalogue):
    flow, _ = built(
        LOOP.replace("nodes:\n", "nodes:\n  X: TextInput\n").replace("edges:\n", "edges:\n  X.text -> P.pattern\n")
    )
    assert not [fault for fault in check(flow, catalogue) if fault.is_error]


def test_two_components_with_one_given_name_are_reported(built: Built, catalogue: Catalogue):
    flow, ids = built(TOOLS)
    copied = duplicate(flow, ids["G"]).flow
    assert "duplicate_name" not in {code for code, _ in codes(copied, catalogue)}, "both bear the type's own name"
    named = rename(rename(flow, ids["G"], "Helper").flow, ids["A"], "helper").flow
    assert ("duplicate_name", "warning") in codes(named, catalogue)


def test_a_tool_that_nothing_describes_is_reported(built: Built, catalogue: Catalogue):
    flow, ids = built(TOOLS)
    document: dict[str, Any] = flow.to_json()
    calculator = next(node for node in document["data"]["nodes"] if node["id"] == ids["C"])
    calculator["data"]["node"]["description"] = " "
    assert codes(Flow.from_json(document), catalogue) == [("undescribed_tool", "warning")]
    rows = [{"name": "add", "tags": ["add"], "description": "Adds numbers.", "status": True}]
    calculator["data"]["node"]["template"]["tools_metadata"] = {"type": "table", "value": rows}
    assert codes(Flow.from_json(document), catalogue) == []


def test_a_component_that_lacks_a_package_cannot_run(catalogue_json: dict[str, Any]):
    lacking = {"CombineText": {"always": ["trustcall"], "sometimes": []}}
    poor = Catalogue.from_json({**catalogue_json, "lacking": lacking})
    flow = add_component(Flow.empty(), poor, "CombineText").flow
    fault = next(fault for fault in check(flow, poor) if fault.code == "needs_package")
    assert fault.is_error
    assert "trustcall" in fault.message
    for sometimes, found in ((["crewai"], [("needs_package", "warning")]), (["jq"], [])):
        poor = Catalogue.from_json({**catalogue_json, "lacking": {"CombineText": {"sometimes": sometimes}}})
        assert [entry for entry in codes(flow, poor) if entry[0] == "needs_package"] == found


def test_a_component_of_langflow_s_own_services_cannot_run(catalogue_json: dict[str, Any]):
    components = dict(catalogue_json["components"])
    components["RunFlow"] = components["CombineText"]
    whole = Catalogue.from_json({**catalogue_json, "components": components})
    flow = add_component(Flow.empty(), whole, "RunFlow").flow
    assert ("needs_service", "error") in codes(flow, whole)


def test_a_side_branch_that_the_chat_does_not_reach_is_reported(built: Built, catalogue: Catalogue):
    flow = add_component(built(BARE_ECHO)[0], catalogue, "TextInput", node_id="T").flow
    flow = add_component(flow, catalogue, "CombineText", node_id="C").flow
    flow = with_edge(flow, "T", "text", "C", "text1")
    found = [fault for fault in check(flow, catalogue) if fault.code == "unreachable"]
    assert [(fault.node, fault.severity) for fault in found] == [("C", "warning")]


def test_a_missing_model_is_reported_until_one_is_chosen(built: Built, catalogue: Catalogue):
    flow, ids = built(TOOLS.replace("config:\n  G.model: openai:gpt-4o-mini\n", ""))
    assert ("missing_model", "warning") in codes(flow, catalogue)
    assert codes(configure(flow, catalogue, ids["G"], {"model": "openai:gpt-4o"}).flow, catalogue) == []


def test_an_open_model_field_is_no_fault_where_a_default_model_serves_it(built: Built, catalogue: Catalogue):
    flow, _ = built(TOOLS.replace("config:\n  G.model: openai:gpt-4o-mini\n", ""))
    assert check(flow, catalogue, has_model=True) == []
