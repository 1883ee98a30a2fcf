"""Components that change with what is chosen in them: fields, outputs and edges follow, and each step can be undone."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.actions import apply, apply_all, inverse
from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow, Node
from flows.edits import EditError, add_component, configure, connect
from flows.fields.values import option_names
from flows.json_values import as_list, as_object
from flows.spec import build, to_spec

Built = Callable[[str], tuple[Flow, dict[str, str]]]
relaxed = settings(max_examples=80)


def one(catalogue: Catalogue, kind: str, **values: Any) -> tuple[Flow, Node]:
    """A flow with one component, with values set."""
    flow = add_component(Flow.empty(), catalogue, kind, node_id="x", values=values).flow
    return flow, node_x(flow)


def node_x(flow: Flow) -> Node:
    node = flow.node("x")
    assert node is not None
    return node


def shown(node: Node) -> set[str]:
    return {name for name, field in node.template.items() if field.get("show") is not False}


def outputs(node: Node) -> list[str]:
    return [str(output["name"]) for output in node.outputs]


def test_fields_of_the_chosen_operation_are_shown_and_those_of_the_old_one_hidden(catalogue: Catalogue):
    flow, node = one(catalogue, "Operations", operation="Case Conversion")
    assert {"case_type", "text_input"} <= shown(node)
    node = node_x(configure(flow, catalogue, "x", {"operation": "Text Replace"}).flow)
    assert {"search_pattern", "replacement_text", "use_regex"} <= shown(node)
    assert "case_type" not in shown(node)


def test_order_of_values_does_not_matter_when_one_depends_on_another(catalogue: Catalogue):
    values = {"select_keys_input": ["a"], "operation": "Select Keys", "input_type": "JSON"}
    _, node = one(catalogue, "Operations", **values)
    assert {"data", "select_keys_input"} <= shown(node)
    assert "text_input" not in shown(node)
    assert outputs(node) == ["data_output"]
    assert node.value("select_keys_input") == ["a"]


def test_a_dependent_choice_is_emptied_when_what_it_depends_on_changes(catalogue: Catalogue):
    flow, _ = one(catalogue, "Operations", operation="Word Count")
    node = node_x(configure(flow, catalogue, "x", {"input_type": "Table"}).flow)
    assert node.value("operation") == []
    assert "Filter" in option_names(as_object(node.field("operation")))
    assert shown(node) & {"count_words", "text_input"} == set()
    assert outputs(node) == ["dataframe_output"]


def test_option_of_another_choice_is_refused_with_what_to_choose_first(catalogue: Catalogue):
    with pytest.raises(EditError) as caught:
        one(catalogue, "Operations", operation="Select Keys")
    [fault] = caught.value.faults
    assert fault.code == "bad_option"
    assert fault.fix == "It can be chosen when input_type is 'JSON': set x.input_type too."


def test_value_of_an_operation_that_is_not_chosen_is_refused(catalogue: Catalogue):
    with pytest.raises(EditError) as caught:
        one(catalogue, "Operations", case_type="uppercase")
    [fault] = caught.value.faults
    assert (fault.code, fault.field) == ("inactive_field", "case_type")
    assert "operation is 'Case Conversion'" in fault.message


def test_value_that_another_mode_hides_is_set_with_a_warning(catalogue: Catalogue):
    spec = "nodes:\n  M: Memory\nconfig:\n  M.sender_name: Ann\n"
    result = build(spec, catalogue)
    assert result.flow is not None
    [fault] = [fault for fault in result.faults if fault.code == "inactive_field"]
    assert (fault.severity, fault.node, fault.line) == ("warning", "M", 4)
    node = result.flow.nodes[0]
    assert (node.value("sender_name"), "sender_name" in shown(node)) == ("Ann", True)


def test_field_is_gone_when_the_choice_takes_it_away(catalogue: Catalogue):
    flow, node = one(catalogue, "ConditionalRouter", operator="regex")
    assert node.field("case_sensitive") is None
    with pytest.raises(EditError) as caught:
        configure(flow, catalogue, "x", {"case_sensitive": False})
    assert "only when operator is" in caught.value.faults[0].message
    back = node_x(configure(flow, catalogue, "x", {"operator": "contains", "case_sensitive": False}).flow)
    assert back.value("case_sensitive") is False


def test_edges_of_vanished_ports_are_removed_and_restored_by_undo(built: Built, catalogue: Catalogue):
    flow, ids = built(
        "nodes:\n  A: ChatInput\n  O: Operations\n  B: ChatOutput\nedges:\n  A -> O -> B\n"
        "config:\n  O.operation: Text Head\n"
    )
    edit = configure(flow, catalogue, ids["O"], {"input_type": "JSON"})
    assert [action.kind for action in edit.actions] == ["disconnect", "disconnect", "configure"]
    assert edit.flow.edges == ()
    undone = apply_all(edit.flow, [inverse(action) for action in reversed(edit.actions)])
    assert undone == flow


def test_edge_into_an_input_that_is_not_in_use_is_refused(catalogue: Catalogue):
    flow, _ = one(catalogue, "Operations")
    flow = add_component(flow, catalogue, "ChatInput", node_id="a").flow
    with pytest.raises(EditError) as caught:
        connect(flow, catalogue, "a", "message", "x", "text_input_2")
    assert caught.value.faults[0].code == "inactive_input"
    assert "operation is 'Text Join'" in caught.value.faults[0].message
    flow = configure(flow, catalogue, "x", {"operation": "Text Join"}).flow
    assert connect(flow, catalogue, "a", "message", "x", "text_input_2").flow.edges


def test_missing_output_is_named_with_the_choice_that_gives_it(catalogue: Catalogue):
    spec = (
        "nodes:\n  A: ChatInput\n  T: TypeConverterComponent\n  P: ParserComponent\n  B: ChatOutput\n"
        "edges:\n  A -> T\n  T.dataframe_output -> P\n  P -> B\nconfig:\n  T.output_type: JSON\n"
    )
    spec = spec.replace("T.dataframe_output -> P", "T.dataframe_output -> P.input_data")
    [fault] = [fault for fault in build(spec, catalogue).faults if fault.code == "unknown_output"]
    assert fault.fix == "It has that output when output_type is 'Table': set T.output_type."


def test_routes_give_one_output_each_and_one_more_for_the_rest(catalogue: Catalogue):
    flow, node = one(catalogue, "SmartRouter")
    assert outputs(node) == ["category_1_result", "category_2_result"]
    rows = [{"route_category": name} for name in ("Praise", "Blame", "Other")]
    flow = configure(flow, catalogue, "x", {"routes": rows, "enable_else_output": True}).flow
    assert outputs(node_x(flow)) == ["category_1_result", "category_2_result", "category_3_result", "default_result"]
    assert [output["display_name"] for output in node_x(flow).outputs] == ["Praise", "Blame", "Other", "Else"]
    flow = configure(flow, catalogue, "x", {"routes": rows[:1]}).flow
    assert outputs(node_x(flow)) == ["category_1_result", "default_result"]


def test_answers_of_a_person_become_branches_once_each(catalogue: Catalogue):
    _, node = one(catalogue, "HumanInput", decisions=["Ship it", "Hold", "Ship it", " "], enable_fallback=True)
    assert outputs(node) == ["branch_ship_it", "branch_hold", "branch_fallback"]
    assert "timeout" in shown(node)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.csv", ["dataframe", "message", "path"]),
        ("a.json", ["json", "message", "path"]),
        ("a.txt", ["message", "path"]),
        ('["a.txt", "b.txt"]', ["dataframe", "message"]),
    ],
)
def test_a_file_has_the_outputs_of_its_kind(path: str, expected: list[str], catalogue: Catalogue):
    _, node = one(catalogue, "File", path=path)
    assert outputs(node) == expected


def test_a_tool_stays_a_tool_when_something_is_chosen_in_it(built: Built, catalogue: Catalogue):
    flow, ids = built("nodes:\n  F: File\n  G: Agent\nedges:\n  F.component_as_tool -> G.tools\n")
    node = configure(flow, catalogue, ids["F"], {"path": "a.csv"}).flow.node(ids["F"])
    assert node is not None
    assert outputs(node) == ["component_as_tool"]


def test_setting_what_is_set_changes_nothing(catalogue: Catalogue):
    flow, _ = one(catalogue, "Operations", operation="Word Count")
    assert configure(flow, catalogue, "x", {"operation": "Word Count"}).actions == ()


def test_component_whose_refresh_is_unknown_is_configured_as_it_is(catalogue_json: dict[str, Any]):
    unknown = Catalogue.from_json({**catalogue_json, "choices": {"Operations": None}})
    part = unknown.get("Operations")
    assert part is not None
    assert part.choices is None
    _, node = one(unknown, "Operations", case_type="uppercase")
    assert "case_type" in shown(node)


CHOOSING = ("Operations", "TextOperations", "SmartRouter", "HumanInput", "File", "Memory", "ConditionalRouter")


@relaxed
@given(st.data())
def test_every_choice_can_be_undone_and_leaves_a_sound_component(catalogue: Catalogue, data: st.DataObject):
    kind = data.draw(st.sampled_from(CHOOSING))
    flow, node = one(catalogue, kind)
    part = catalogue.get(kind)
    assert part is not None
    for _ in range(data.draw(st.integers(1, 5))):
        name = data.draw(st.sampled_from([name for name in part.choices or {} if node.field(name) is not None]))
        before = flow
        try:
            edit = configure(flow, catalogue, "x", {name: data.draw(values_for(node, name))})
        except EditError:
            continue
        for action in edit.actions:
            assert apply(apply(flow, action), inverse(action)) == flow
            flow = apply(flow, action)
        assert flow == edit.flow
        node = node_x(flow)
        names = outputs(node)
        assert len(names) == len(set(names))
        assert all(field.get("name", key) == key for key, field in node.template.items())
        assert apply_all(flow, [inverse(action) for action in reversed(edit.actions)]) == before
    assert not [fault for fault in check(flow, catalogue) if fault.code == "unknown_output"]
    assert build(to_spec(flow, catalogue), catalogue).flow is not None


def values_for(node: Node, name: str) -> st.SearchStrategy[Any]:
    """Values that may be chosen in a field."""
    field = as_object(node.field(name))
    if field.get("type") == "bool":
        return st.booleans()
    if field.get("type") == "file":
        return st.sampled_from(["a.csv", "a.json", "a.txt", '["a.txt", "b.md"]', ""])
    if field.get("type") == "table":
        rows = st.fixed_dictionaries({"route_category": st.sampled_from(["a", "b b", ""])})
        return st.lists(rows, max_size=3)
    if field.get("type") == "actionPicker":
        return st.lists(st.sampled_from(["Go", "go", "Stop now", " "]), max_size=3)
    return st.sampled_from(option_names(field) or [""])


def test_every_rule_of_the_catalogue_speaks_of_fields_that_exist(catalogue: Catalogue):
    for part in catalogue:
        for name, rules in (part.choices or {}).items():
            assert name in part.template
            for rule in map(as_object, as_list(rules)):
                assert "rows" in rule or "base" in rule
                for change in (rule.get("base"), *as_object(rule.get("set")).values()):
                    for field, entry in as_object(as_object(change).get("fields")).items():
                        assert field in part.template or "name" in as_object(entry) or entry is None
