"""Edits judge first, then change, and say what they did."""

from collections.abc import Callable

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError, add_component, configure, connect, disconnect, remove_component
from tests.shared.flow_texts import BARE_ECHO

Built = Callable[[str], tuple[Flow, dict[str, str]]]


def test_nothing_moves_when_a_component_is_added(built: Built, catalogue: Catalogue):
    flow, _ = built(BARE_ECHO)
    edit = add_component(flow, catalogue, "CombineText", values={"delimiter": "-"})
    assert edit.flow.nodes[:2] == flow.nodes
    new = edit.flow.nodes[2]
    assert new.value("delimiter") == "-"
    assert new.position[0] > max(node.position[0] for node in flow.nodes)
    assert [action.kind for action in edit.actions] == ["add_component"]


def test_ids_differ_when_the_same_type_is_added_again(catalogue: Catalogue):
    flow = Flow.empty()
    for _ in range(30):
        flow = add_component(flow, catalogue, "CombineText").flow
        flow = remove_component(flow, flow.nodes[0].id).flow if len(flow.nodes) == 20 else flow
    ids = [node.id for node in flow.nodes]
    assert len(ids) == len(set(ids))


def test_edges_go_when_a_component_is_removed(built: Built):
    flow, ids = built(BARE_ECHO)
    edit = remove_component(flow, ids["B"])
    assert [node.id for node in edit.flow.nodes] == [ids["A"]]
    assert edit.flow.edges == ()


@pytest.mark.parity("scenario-model-input-mode", "scenario-multi-output-source")
def test_model_input_is_switched_before_a_model_is_connected(built: Built, catalogue: Catalogue):
    flow, ids = built(
        "nodes:\n  M: LanguageModelComponent\n  N: LanguageModelComponent\nedges:\n  M.text_output -> N.input_value\n"
    )
    flow = disconnect(flow, ids["M"]).flow
    edit = connect(flow, catalogue, ids["M"], "model_output", ids["N"], "model")
    assert [action.kind for action in edit.actions] == ["select_output", "set_connection_mode", "connect"]
    target, source = edit.flow.node(ids["N"]), edit.flow.node(ids["M"])
    assert target is not None
    assert target.value("model") == "connect_other_models"
    assert source is not None
    assert source.raw["data"]["selected_output"] == "model_output"


def test_source_becomes_a_tool_when_it_is_connected_as_one(catalogue: Catalogue):
    flow = add_component(Flow.empty(), catalogue, "Agent", node_id="G").flow
    flow = add_component(flow, catalogue, "CalculatorComponent", node_id="C").flow
    edit = connect(flow, catalogue, "C", "component_as_tool", "G", "tools")
    assert [action.kind for action in edit.actions] == ["set_tool_mode", "connect"]
    with pytest.raises(EditError):
        connect(edit.flow, catalogue, "C", "result", "G", "input_value")


def test_edge_into_a_taken_input_is_refused(built: Built, catalogue: Catalogue):
    flow, ids = built(BARE_ECHO)
    flow = add_component(flow, catalogue, "TextInput", node_id="T").flow
    with pytest.raises(EditError) as caught:
        connect(flow, catalogue, "T", "text", ids["B"], "input_value")
    assert caught.value.faults[0].code == "input_taken"


def test_only_the_named_edge_goes_when_ports_are_given(built: Built):
    flow, ids = built(
        "nodes:\n  A: ChatInput\n  C: CombineText\n  B: ChatOutput\nedges:\n  A.message -> C.text1\n"
        "  A.message -> C.text2\n  C.combined_text -> B.input_value\n"
    )
    assert len(disconnect(flow, ids["A"], "message", ids["C"], "text2").flow.edges) == 2
    assert len(disconnect(flow, ids["A"], None, ids["C"]).flow.edges) == 1
    with pytest.raises(EditError) as caught:
        disconnect(flow, ids["A"], None, ids["B"])
    assert caught.value.faults[0].code == "unknown_edge"


def test_nothing_is_applied_when_one_value_is_not_valid(built: Built, catalogue: Catalogue):
    flow, ids = built(BARE_ECHO)
    with pytest.raises(EditError) as caught:
        configure(
            flow, catalogue, ids["B"], {"sender_name": "Bot", "clean_data": "maybe", "sender": "Robot", "nope": 1}
        )
    assert [fault.code for fault in caught.value.faults] == ["bad_value", "bad_option", "unknown_field"]
    node = flow.node(ids["B"])
    assert node is not None
    assert node.value("sender_name") == "AI"


def test_given_value_is_meant_literally(catalogue: Catalogue):
    flow = add_component(Flow.empty(), catalogue, "LanguageModelComponent", node_id="M").flow
    node = configure(flow, catalogue, "M", {"api_key": "abc"}).flow.nodes[0]
    field = node.field("api_key")
    assert field is not None
    assert (field["value"], field["load_from_db"]) == ("abc", False)


def test_no_action_is_given_when_nothing_changes(built: Built, catalogue: Catalogue):
    flow, ids = built(BARE_ECHO)
    edit = configure(flow, catalogue, ids["B"], {"sender_name": "AI"})
    assert (edit.flow, edit.actions) == (flow, ())


@pytest.mark.parametrize("call", ["add", "taken", "remove", "connect", "configure"])
def test_error_names_what_is_there_when_something_is_unknown(call: str, built: Built, catalogue: Catalogue):
    flow, ids = built(BARE_ECHO)
    with pytest.raises(EditError) as caught:
        match call:
            case "add":
                add_component(flow, catalogue, "ChatInptu")
            case "taken":
                add_component(flow, catalogue, "ChatInput", node_id=ids["A"])
            case "remove":
                remove_component(flow, "ChatInput-?")
            case "connect":
                connect(flow, catalogue, ids["A"], "message", "ChatOutput", "input_value")
            case _:
                configure(flow, catalogue, "nobody", {})
    fault = caught.value.faults[0]
    assert fault.code in {"unknown_type", "duplicate_id", "unknown_node"}
    assert fault.fix
