"""Insert, replace, rename and duplicate: what stays, what goes, and that nothing is half done."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.actions import FlowAction, apply_all, inverse
from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow
from flows.edits import (
    Edit,
    EditError,
    add_component,
    configure,
    connect,
    disconnect,
    duplicate,
    insert_between,
    rename,
    replace_component,
)
from flows.json_values import MISSING
from tests.shared.flow_texts import BARE_ECHO, LOOP, PROMPT, TOOLS

Built = Callable[[str], tuple[Flow, dict[str, str]]]
CHAIN = "nodes:\n  A: ChatInput\n  C: CombineText\n  B: ChatOutput\nedges:\n  A.message -> C.text1\n"
CHAIN += "  A.message -> C.text2\n  C.combined_text -> B.input_value\nconfig:\n  C.delimiter: '-'\n"
PROMPTED = """\
nodes:
  A: ChatInput
  C: Prompt Template
  B: ChatOutput
edges:
  A.message -> C.x
  A.message -> C.y
  C.prompt -> B.input_value
config:
  C.template: "{x}+{y}"
"""
relaxed = settings(max_examples=40)


def undone(edit: Edit) -> Flow:
    return apply_all(edit.flow, [inverse(action) for action in reversed(edit.actions)])


def kinds(actions: tuple[FlowAction, ...]) -> list[str]:
    return [action.kind for action in actions]


def test_the_old_edge_goes_when_a_component_is_inserted(built: Built, catalogue: Catalogue):
    flow, ids = built(BARE_ECHO)
    edit = insert_between(
        flow, catalogue, "Prompt Template", ids["A"], ids["B"], values={"template": "Say it louder: {text}"}
    )
    new = edit.flow.nodes[-1].id
    assert [edge.text for edge in edit.flow.edges] == [
        f"{ids['A']}.message -> {new}.text",
        f"{new}.prompt -> {ids['B']}.input_value",
    ]
    assert kinds(edit.actions) == ["disconnect", "add_component", "connect", "connect"]
    assert edit.flow.nodes[:2] == flow.nodes
    assert undone(edit) == flow
    assert check(edit.flow, catalogue) == []


def test_a_component_is_inserted_into_a_loop_s_way_back(built: Built, catalogue: Catalogue):
    flow, ids = built(LOOP)
    edit = insert_between(flow, catalogue, "TypeConverterComponent", ids["T"], ids["L"])
    assert [edge.is_feedback for edge in edit.flow.edges].count(True) == 1
    assert edit.flow.edges[-1].is_feedback
    assert undone(edit) == flow


def test_the_edge_must_be_named_when_several_join_the_two(built: Built, catalogue: Catalogue):
    flow, ids = built(CHAIN)
    with pytest.raises(EditError) as caught:
        insert_between(flow, catalogue, "CombineText", ids["A"], ids["C"])
    assert caught.value.faults[0].code == "ambiguous_edge"
    assert "text2" in caught.value.faults[0].fix
    edit = insert_between(flow, catalogue, "CombineText", ids["A"], ids["C"], target_port="text2")
    assert f"{ids['A']}.message -> {ids['C']}.text1" in [edge.text for edge in edit.flow.edges]


@pytest.mark.parametrize(
    ("type", "code", "advice"),
    [
        ("Prompt Template", "type_mismatch", "{variable}"),
        ("CalculatorComponnt", "unknown_type", "CalculatorComponent"),
        ("LoopComponent", None, ""),
        ("SplitText", None, ""),
    ],
)
def test_nothing_changes_when_the_inserted_component_does_not_fit(
    type: str, code: str | None, advice: str, built: Built, catalogue: Catalogue
):
    flow, ids = built(CHAIN)
    before = flow.to_json()
    if code is None:
        insert_between(flow, catalogue, type, ids["C"], ids["B"])
    else:
        with pytest.raises(EditError) as caught:
            insert_between(flow, catalogue, type, ids["C"], ids["B"])
        assert caught.value.faults[0].code == code
        assert advice in caught.value.faults[0].fix
    with pytest.raises(EditError) as caught:
        insert_between(flow, catalogue, type, ids["A"], ids["B"])
    assert caught.value.faults[0].code == "unknown_edge"
    assert flow.to_json() == before


def test_what_fits_is_kept_when_a_component_is_replaced(built: Built, catalogue: Catalogue):
    flow, ids = built(PROMPTED)
    edit = replace_component(flow, catalogue, ids["C"], "CombineText", values={"delimiter": "+"})
    new = edit.flow.nodes[1]
    assert (new.type, new.position) == ("CombineText", flow.nodes[1].position)
    assert [edge.text for edge in edit.flow.edges] == [
        f"{ids['A']}.message -> {new.id}.text1",
        f"{ids['A']}.message -> {new.id}.text2",
        f"{new.id}.combined_text -> {ids['B']}.input_value",
    ]
    assert edit.lost == (f"{ids['C']}.template",)
    assert undone(edit) == flow


def test_settings_and_edges_stay_when_a_component_is_renewed(built: Built, catalogue: Catalogue):
    flow, ids = built(CHAIN)
    document = flow.to_json()
    document["data"]["nodes"][1]["data"]["node"]["template"]["code"]["value"] += "\n# old\n"
    stale = rename(Flow.from_json(document), ids["C"], "Joiner").flow
    assert "stale_code" in {fault.code for fault in check(stale, catalogue)}
    edit = replace_component(stale, catalogue, ids["C"], "CombineText")
    node = edit.flow.node(ids["C"])
    assert node is not None
    assert (node.value("delimiter"), node.display_name, edit.lost) == ("-", "Joiner", ())
    assert len(edit.flow.edges) == 3
    assert check(edit.flow, catalogue) == []


def test_lost_edges_and_values_are_reported_when_a_component_is_replaced(built: Built, catalogue: Catalogue):
    flow, ids = built(CHAIN)
    edit = replace_component(flow, catalogue, ids["C"], "SplitText")
    assert sorted(edit.lost) == [
        f"{ids['A']}.message -> {ids['C']}.text2",
        f"{ids['C']}.delimiter",
    ]
    assert "separator" not in {edge.target_port for edge in edit.flow.edges}


def test_a_tool_stays_a_tool_when_it_is_replaced(built: Built, catalogue: Catalogue):
    flow, ids = built(TOOLS)
    edit = replace_component(flow, catalogue, ids["C"], "URLComponent")
    assert edit.lost == ()
    assert edit.flow.nodes[2].tool_mode
    assert replace_component(flow, catalogue, ids["C"], "ChatOutput").lost == (
        f"{ids['C']}.component_as_tool -> {ids['G']}.tools",
    )


def test_a_stored_variable_s_name_is_kept_when_a_component_is_replaced(built: Built, catalogue: Catalogue):
    flow = add_component(Flow.empty(), catalogue, "LanguageModelComponent", node_id="M").flow
    document = flow.to_json()
    field = document["data"]["nodes"][0]["data"]["node"]["template"]["api_key"]
    field.update(value="MY_KEY", load_from_db=True)
    edit = replace_component(Flow.from_json(document), catalogue, "M", "Agent")
    kept = edit.flow.nodes[0].field("api_key")
    assert kept is not None
    assert (kept["value"], kept["load_from_db"]) == ("MY_KEY", True)


def test_only_the_display_name_changes_when_a_component_is_renamed(built: Built):
    flow, ids = built(BARE_ECHO)
    edit = rename(flow, ids["A"], "  Question ")
    node = edit.flow.node(ids["A"])
    assert node is not None
    assert (node.display_name, kinds(edit.actions)) == ("Question", ["amend"])
    assert undone(edit) == flow
    assert rename(edit.flow, ids["A"], "Question").actions == ()
    for name in ("", "  ", "a\nb", "x" * 500):
        with pytest.raises(EditError):
            rename(flow, ids["A"], name)


def test_a_copy_has_the_settings_but_not_the_edges(built: Built, catalogue: Catalogue):
    flow, ids = built(CHAIN)
    edit = duplicate(flow, ids["C"])
    copy = edit.flow.nodes[-1]
    assert copy.id != ids["C"]
    assert (copy.type, copy.value("delimiter"), copy.raw["data"]["id"]) == ("CombineText", "-", copy.id)
    assert (edit.flow.nodes[:3], edit.flow.edges) == (flow.nodes, flow.edges)
    again = duplicate(edit.flow, ids["C"])
    assert len({node.id for node in again.flow.nodes}) == 5
    spots = {node.position for node in again.flow.nodes}
    assert len(spots) == 5
    assert undone(edit) == flow


def test_a_connected_model_is_not_set_in_a_copy(catalogue: Catalogue):
    flow = add_component(Flow.empty(), catalogue, "LanguageModelComponent", node_id="M").flow
    flow = add_component(flow, catalogue, "Agent", node_id="G").flow
    flow = connect(flow, catalogue, "M", "model_output", "G", "model").flow
    copy = duplicate(flow, "G").flow.nodes[-1]
    assert copy.value("model") == ""


def test_a_tool_becomes_a_step_again_when_no_agent_uses_it(built: Built, catalogue: Catalogue):
    flow, ids = built(TOOLS)
    flow = disconnect(disconnect(flow, ids["C"]).flow, ids["G"]).flow
    edit = connect(flow, catalogue, ids["C"], "result", ids["B"], "input_value")
    assert kinds(edit.actions) == ["set_tool_mode", "connect"]
    node = edit.flow.node(ids["C"])
    assert node is not None
    assert not node.tool_mode
    assert undone(edit) == flow


def test_a_stale_expected_value_is_refused(built: Built, catalogue: Catalogue):
    flow, ids = built(CHAIN)
    assert configure(flow, catalogue, ids["C"], {"delimiter": "+"}, expected={"delimiter": "-"}).actions
    for expected in ({"delimiter": "*"}, {"delimiter": None}, {"nothing": ""}, {"delimiter": MISSING}):
        with pytest.raises(EditError) as caught:
            configure(flow, catalogue, ids["C"], {"delimiter": "+"}, expected=expected)
        assert caught.value.faults[0].code == "stale_value"


@pytest.mark.parametrize("call", ["insert", "replace", "rename", "duplicate", "note"])
def test_an_unknown_component_is_named_with_the_nearest(call: str, built: Built, catalogue: Catalogue):
    note = {"id": "note-1", "type": "noteNode", "data": {"id": "note-1", "type": "note"}}
    flow, ids = built(BARE_ECHO)
    document = flow.to_json()
    document["data"]["nodes"].append(note)
    flow = Flow.from_json(document)
    with pytest.raises(EditError) as caught:
        match call:
            case "insert":
                insert_between(flow, catalogue, "CombineText", ids["A"], ids["B"] + "x")
            case "replace":
                replace_component(flow, catalogue, ids["A"] + "x", "TextInput")
            case "rename":
                rename(flow, ids["A"][:-1], "x")
            case "duplicate":
                duplicate(flow, "ChatInput")
            case _:
                rename(flow, "note-1", "x")
    fault = caught.value.faults[0]
    assert fault.code == ("not_a_component" if call == "note" else "unknown_node")
    assert call == "note" or "Did you mean" in fault.fix


@relaxed
@given(st.data())
def test_compound_edits_can_be_undone_and_move_nothing(catalogue: Catalogue, built: Built, data: st.DataObject):
    flow, _ = built(data.draw(st.sampled_from([BARE_ECHO, LOOP, TOOLS, PROMPT, CHAIN])))
    for _ in range(data.draw(st.integers(1, 5))):
        nodes = [node.id for node in flow.nodes]
        kind = data.draw(st.sampled_from(["insert", "replace", "rename", "duplicate"]))
        type_name = data.draw(st.sampled_from(["CombineText", "ParserComponent", "TypeConverterComponent", "Agent"]))
        node_id = data.draw(st.sampled_from(nodes))
        try:
            match kind:
                case "insert":
                    edge = data.draw(st.sampled_from(flow.edges)) if flow.edges else None
                    if edge is None:
                        continue
                    edit = insert_between(flow, catalogue, type_name, edge.source, edge.target)
                case "replace":
                    edit = replace_component(flow, catalogue, node_id, type_name)
                case "rename":
                    edit = rename(flow, node_id, data.draw(st.text(max_size=8)))
                case _:
                    edit = duplicate(flow, node_id)
        except EditError:
            continue
        assert apply_all(flow, edit.actions) == edit.flow
        assert undone(edit).to_json() == flow.to_json()
        places = {node.id: node.position for node in edit.flow.nodes}
        assert all(places.get(node.id, node.position) == node.position for node in flow.nodes)
        assert len(places) == len(edit.flow.nodes)
        flow = edit.flow
