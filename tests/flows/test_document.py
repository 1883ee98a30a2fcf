"""Documents are kept whole, and what is no flow is refused with the place."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow, FlowFormatError, Json
from flows.edits import add_component, configure
from flows.fingerprints import fingerprint
from flows.json_values import is_short
from flows.spec import print_spec, to_spec
from tests.flows.exports import EXPORTS, OLD

EXPORT = {
    "id": "9b0",
    "name": "Kept",
    "description": None,
    "endpoint_name": None,
    "tags": ["x"],
    "data": {
        "viewport": {"x": 1.5, "y": -2, "zoom": 0.7},
        "extra": {"deep": [1, None, {"a": True}]},
        "nodes": [
            {
                "id": "note-1",
                "type": "noteNode",
                "position": {"x": 0, "y": 0},
                "data": {"id": "note-1", "type": "note"},
            },
            {
                "id": "Unknown-1",
                "type": "genericNode",
                "measured": {"width": 320},
                "position": {"x": 12, "y": 7.25},
                "data": {
                    "id": "Unknown-1",
                    "type": "FromSomeBundle",
                    "node": {
                        "display_name": "Odd",
                        "template": {"_type": "Component", "a": {"type": "str", "value": "v"}},
                    },
                },
            },
        ],
        "edges": [
            {
                "id": "e",
                "source": "Unknown-1",
                "target": "Unknown-1",
                "sourceHandle": "{œdataTypeœ:œXœ,œidœ:œUnknown-1œ,œnameœ:œoutœ,œoutput_typesœ:[]}",
                "targetHandle": "{œfieldNameœ:œaœ,œidœ:œUnknown-1œ,œinputTypesœ:[],œtypeœ:œstrœ}",
            }
        ],
    },
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def test_document_is_unchanged_when_read_and_written():
    flow = Flow.from_json(EXPORT)
    assert flow.to_json() == EXPORT
    assert flow.to_json() is not flow.to_json()


@given(st.dictionaries(st.text(), json_values, max_size=4), st.dictionaries(st.text(), json_values, max_size=4))
def test_unknown_keys_survive_when_a_document_is_read_and_written(outer: dict[str, object], inner: dict[str, object]):
    document = {**outer, "data": {**inner, "nodes": [{**inner, "id": "a", "data": {"id": "a"}}], "edges": []}}
    assert Flow.from_json(document).to_json() == document


def test_later_changes_do_not_reach_the_flow_when_the_source_document_is_changed():
    document = {"nodes": [], "edges": []}
    flow = Flow.from_json(document)
    document["nodes"].append({"id": "x"})
    assert flow.nodes == ()


def test_bare_nodes_and_edges_are_a_flow():
    document = {"nodes": [{"id": "a", "data": {"id": "a", "type": "T"}}], "edges": []}
    flow = Flow.from_json(document)
    assert flow.to_json() == document
    assert [node.type for node in flow.nodes] == ["T"]


def test_views_tell_types_values_and_ports():
    flow = Flow.from_json(EXPORT)
    note, node = flow.nodes
    assert note.is_note
    assert not node.is_note
    assert (node.display_name, node.value("a"), node.field("_type"), node.position) == ("Odd", "v", None, (12.0, 7.25))
    assert list(node.template) == ["a"]
    assert flow.node("Unknown-1") is node
    assert flow.node("nobody") is None
    assert not flow.is_empty


def test_ports_are_read_from_the_handle_text_when_an_edge_has_no_data():
    edge = Flow.from_json(EXPORT).edges[0]
    assert (edge.source_port, edge.target_port, edge.is_feedback) == ("out", "a", False)


def test_equal_flows_have_equal_hashes():
    assert Flow.from_json(EXPORT) == Flow.from_json(EXPORT)
    assert hash(Flow.from_json(EXPORT)) == hash(Flow.from_json(EXPORT))
    assert Flow.empty("A") != Flow.empty("B")
    assert Flow.empty().is_empty


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (None, "$"),
        ([], "$"),
        ({}, "$"),
        ({"data": None}, "$.data"),
        ({"data": {"nodes": {}, "edges": []}}, "$.data.nodes"),
        ({"data": {"nodes": [], "edges": "x"}}, "$.data.edges"),
        ({"data": {"nodes": [{"id": "a"}, 7], "edges": []}}, "$.data.nodes[1]"),
        ({"data": {"nodes": [{"id": 5}], "edges": []}}, "$.data.nodes[0].id"),
        ({"data": {"nodes": [{"id": "a", "data": 3}], "edges": []}}, "$.data.nodes[0].data"),
        ({"nodes": [{"id": "a", "data": {"node": []}}], "edges": []}, "$.nodes[0].data.node"),
        ({"nodes": [{"id": "a", "data": {"node": {"template": 1}}}]}, "$.nodes[0].data.node.template"),
        ({"data": {"nodes": [], "edges": [{"source": "a"}]}}, "$.data.edges[0].target"),
        ({"data": {"nodes": [], "edges": [], "x": [{1, 2}]}}, "$.data.x[0]"),
        ({"data": {"nodes": [], 3: []}}, "$.data"),
    ],
)
def test_error_names_the_place_when_a_document_is_not_a_flow(document: object, path: str):
    with pytest.raises(FlowFormatError) as caught:
        Flow.from_json(document)
    assert caught.value.path == path
    assert caught.value.fix


def test_error_is_typed_when_a_document_is_nested_too_deeply():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(FlowFormatError):
        Flow.from_json({"nodes": [], "edges": [], "deep": deep})


def places_of(value: object) -> list[Any]:
    """Every object inside a document, itself included."""
    found: list[Any] = [value] if isinstance(value, dict) else []
    members: list[Any] = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    for member in members:
        found += places_of(member)
    return found


@pytest.mark.parametrize("document", EXPORTS.values(), ids=EXPORTS.keys())
def test_real_exports_are_unchanged_when_read_and_written(document: dict[str, Any]):
    text = json.dumps(document)
    assert json.dumps(Flow.from_json(json.loads(text)).to_json()) == text


@settings(max_examples=60)
@given(st.data())
def test_keys_that_nobody_knows_survive_an_edit_at_every_level(catalogue: Catalogue, data: st.DataObject):
    document = copy.deepcopy(data.draw(st.sampled_from(list(EXPORTS.values()))))
    for place in data.draw(st.lists(st.sampled_from(places_of(document)), min_size=1, max_size=4)):
        place[f"x_{data.draw(st.text(min_size=1, max_size=5))}"] = data.draw(json_values)
    kept = copy.deepcopy(document)
    edited = add_component(Flow.from_json(document), catalogue, "ChatOutput", node_id="new").flow
    edited = configure(edited, catalogue, "new", {"sender_name": "Bot"}).flow.to_json()
    nodes: Any = edited["data"]
    assert nodes["nodes"].pop()["id"] == "new"
    assert edited == kept


@pytest.mark.parametrize("document", EXPORTS.values(), ids=EXPORTS.keys())
def test_real_exports_can_be_checked_printed_and_compared(document: dict[str, Any], catalogue: Catalogue):
    flow = Flow.from_json(document)
    assert all(fault.message for fault in check(flow, catalogue))
    assert to_spec(flow, catalogue).startswith("name: ")
    assert print_spec(flow, catalogue).faults
    assert fingerprint(flow) == fingerprint(Flow.from_json(flow.to_json()))


def test_the_field_is_read_from_a_handle_of_an_old_version():
    [edge] = Flow.from_json(OLD).edges
    assert (edge.source, edge.source_port, edge.target_port, edge.is_feedback) == (
        "TextLoader-1",
        "",
        "documents",
        False,
    )


def broken(document: Any, steps: list[str | int], value: object) -> Any:
    """The document with something else in one place."""
    changed = copy.deepcopy(document)
    place = changed
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("name", "steps", "value", "path"),
    [
        ("notes", ["data", "nodes", 1], "ChatInput", "$.data.nodes[1]"),
        ("notes", ["data", "nodes", 0, "data"], [], "$.data.nodes[0].data"),
        ("notes", ["data", "nodes", 1, "data", "node"], "x", "$.data.nodes[1].data.node"),
        ("group", ["data", "nodes", 0, "data", "node", "template"], [], "$.data.nodes[0].data.node.template"),
        ("old", ["data", "edges", 0, "source"], None, "$.data.edges[0].source"),
        ("bundle", ["data", "edges"], {}, "$.data.edges"),
        ("bundle", ["data"], "nodes", "$.data"),
        ("bundle", ["data", "nodes", 1, "data", "x"], object(), "$.data.nodes[1].data.x"),
    ],
)
def test_error_names_the_place_when_an_export_is_damaged(name: str, steps: list[str | int], value: object, path: str):
    with pytest.raises(FlowFormatError) as caught:
        Flow.from_json(broken(EXPORTS[name], steps, value))
    assert caught.value.path == path
    assert str(caught.value).startswith(path)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_a_number_that_json_cannot_hold_is_refused_with_its_place(number: str) -> None:
    written = EXPORT | {"data": EXPORT["data"] | {"viewport": {"x": 0, "y": 0, "zoom": json.loads(number)}}}
    with pytest.raises(FlowFormatError) as caught:
        Flow.from_json(written)
    assert caught.value.path == "$.data.viewport.zoom"


@given(st.lists(st.text(), max_size=5))
def test_code_that_was_exported_as_lines_is_one_text(lines: list[str]) -> None:
    def document(code: object) -> dict[str, Any]:
        fields = {"code": {"type": "code", "value": code}, "function_code": {"type": "code", "value": code}}
        template = {**fields, "tags": {"type": "str", "value": ["a", "b"]}, "_type": "Component"}
        node = {"id": "Own-1", "data": {"id": "Own-1", "type": "Own", "node": {"template": template}}}
        return {"name": "Lines", "data": {"nodes": [node], "edges": []}}

    written = document(list(lines))
    assert Flow.from_json(written).to_json() == document("\n".join(lines))
    assert written == document(lines), "what was given is not changed"
    assert Flow.from_json(document([*lines, 7])).to_json() == document([*lines, 7]), "no code of anybody's"


def size(value: Json) -> int:
    """How many characters and entries a value has."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return len(value) + sum(map(size, value))
    if isinstance(value, dict):
        return len(value) + sum(map(len, value)) + sum(map(size, value.values()))
    return 0


@given(value=json_values, limit=st.integers(0, 60))
def test_a_value_is_short_as_long_as_all_its_texts_names_and_entries_together_are(value: Json, limit: int) -> None:
    assert is_short(value, limit) == (size(value) <= limit)
