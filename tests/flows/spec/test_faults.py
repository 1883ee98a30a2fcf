"""What is wrong with a spec: all of it in one go, with lines, the spec's own ids and what to do."""

import pytest
from inline_snapshot import snapshot

from flows.catalogue import Catalogue
from flows.spec import build, parse
from tests.shared.flow_texts import BARE_ECHO, TOOLS


def faults(spec: str, catalogue: Catalogue) -> list[tuple[str, int | None, str | None]]:
    result = build(spec, catalogue)
    assert result.flow is None
    return [(fault.code, fault.line, fault.node) for fault in result.faults if fault.is_error]


@pytest.mark.parity("ADR-MCP-006", "error-orphan", "term-orphan-node")
def test_all_faults_are_reported_in_one_go_with_lines_and_the_specs_ids(catalogue: Catalogue):
    spec = """\
nodes:
  A: ChatInput
  A: ChatInput
  B: ChatOutpt
  C: ChatOutput
  R: ConditionalRouter
  lonely: CombineText
  what is this
edges:
  A.mesage -> C.input_value
  A.message -> R.operator
  A.message -> Z.input_value
  A.message to C
  R.true_result -> R.input_text
config:
  C.sendr_name: x
  R.max_iterations: many
  X.y: 1
  R.operator: contain
  oops
"""
    assert faults(spec, catalogue) == snapshot(
        [
            ("duplicate_id", 3, "A"),
            ("unknown_type", 4, "B"),
            ("orphan", 4, "B"),
            ("orphan", 7, "lonely"),
            ("bad_node", 8, None),
            ("unknown_output", 10, "A"),
            ("not_an_input", 11, "R"),
            ("unknown_node", 12, "Z"),
            ("bad_edge", 13, None),
            ("self_edge", 14, "R"),
            ("unknown_field", 16, "C"),
            ("bad_number", 17, "R"),
            ("unknown_node", 18, "X"),
            ("bad_option", 19, "R"),
            ("bad_config", 20, None),
        ]
    )
    told = {fault.code: fault.fix for fault in build(spec, catalogue).faults}
    assert "ChatOutput" in told["unknown_type"]
    assert "'message'" in told["unknown_output"]
    assert "'sender_name'" in told["unknown_field"]
    assert "'contains'" in told["bad_option"]


def test_no_node_id_leaks_into_the_faults_of_a_spec(catalogue: Catalogue):
    spec = "nodes:\n  A: ChatInput\n  L: LoopComponent\n  P: ParserComponent\n"
    spec += "edges:\n  A.message -> P.input_data\n  L.done -> P.pattern\n"
    result = build(spec, catalogue)
    assert result.flow is None
    text = " ".join(fault.message + fault.fix for fault in result.faults)
    assert not any(node_id in text for node_id in result.ids.values())
    assert "A.message -> TypeConverterComponent.input_data" in text


@pytest.mark.parametrize(
    ("edges", "code"),
    [
        ("A.message -> C.text1\n  C.combined_text -> C.text2", "self_edge"),
        ("A.message -> C.text1\n  C.combined_text -> D.text1\n  D.combined_text -> C.text2", "cycle"),
        ("A.message -> C.text1\n  D.combined_text -> C.text1", "input_taken"),
        ("A.message -> C.text1\n  D.text -> C.text2", "unknown_output"),
        ("A.message -> C.code\n  D.combined_text -> C.text2", "not_an_input"),
        ("A.component_as_tool -> C.text1\n  D.combined_text -> C.text2", "not_a_tool"),
    ],
)
def test_spec_is_refused_when_its_wiring_cannot_run(edges: str, code: str, catalogue: Catalogue):
    spec = f"nodes:\n  A: ChatInput\n  C: CombineText\n  D: CombineText\nedges:\n  {edges}\n"
    assert code in {found for found, _, _ in faults(spec, catalogue)}


def test_two_chat_inputs_are_reported_when_a_spec_has_them(catalogue: Catalogue):
    spec = "nodes:\n  A: ChatInput\n  Z: ChatInput\n  C: CombineText\n  B: ChatOutput\nedges:\n  A.message -> C.text1\n"
    spec += "  Z.message -> C.text2\n  C.combined_text -> B.input_value\n"
    result = build(spec, catalogue)
    assert result.ok
    assert [(fault.code, fault.node, fault.line) for fault in result.faults] == [("several_chat_inputs", "Z", 3)]


def test_tool_is_refused_when_it_already_serves_as_a_step(catalogue: Catalogue):
    spec = TOOLS.replace("A.message -> G.input_value", "A.message -> G.input_value\n  C.result -> B.input_value")
    assert faults(spec, catalogue)[0][0] == "tool_in_use"


@pytest.mark.parametrize("text", ["", "   \n", "# nothing", "name: only", "nodes:\n", "\x00", "nodes: A"])
def test_spec_is_refused_when_it_has_no_nodes(text: str, catalogue: Catalogue):
    result = build(text, catalogue)
    assert result.flow is None
    assert result.faults


def test_heading_is_corrected_when_it_is_misspelt():
    _, found = parse("nodse:\n  A: ChatInput\n")
    assert (found[0].code, found[0].line) == ("bad_line", 1)
    assert "'nodes'" in found[0].fix


def test_last_value_counts_and_a_warning_is_given_when_a_field_is_set_twice(catalogue: Catalogue):
    result = build(BARE_ECHO + "config:\n  B.sender_name: one\n  B.sender_name: two\n", catalogue)
    assert result.flow is not None
    node = result.flow.node(result.ids["B"])
    assert node is not None
    assert node.value("sender_name") == "two"
    assert [(fault.code, fault.severity) for fault in result.faults] == [("duplicate_value", "warning")]


def test_same_edge_twice_is_one_edge_and_a_warning(catalogue: Catalogue):
    result = build(BARE_ECHO + "  A.message -> B.input_value\n", catalogue)
    assert result.flow is not None
    assert len(result.flow.edges) == 1
    assert [fault.code for fault in result.faults] == ["duplicate_edge"]


def test_nothing_is_said_of_what_only_follows_from_an_unknown_type(catalogue: Catalogue):
    result = build("nodes:\n  A: Chatt\n  B: Outt\nedges:\n  A.message -> B.input_value\n", catalogue)
    assert [fault.code for fault in result.faults] == ["unknown_type", "unknown_type"]
    spec = "nodes:\n  A: ChatInput\n  S: Splittt\n  P: ParserComponent\n  B: ChatOutput\n"
    spec += "edges:\n  A -> S\n  S.rows -> P.input_data\n  P.parsed_text -> B.input_value\n"
    assert [fault.code for fault in build(spec, catalogue).faults] == ["unknown_type"]


def test_nothing_is_said_of_what_only_follows_from_a_refused_edge(catalogue: Catalogue):
    spec = "nodes:\n  A: ChatInput\n  L: LoopComponent\n  P: ParserComponent\n  B: ChatOutput\n"
    spec += "edges:\n  A.mesage -> P.input_data\n  P.parsed_text -> B.input_value\n  L.itm -> P.pattern\n"
    codes = [fault.code for fault in build(spec, catalogue).faults if fault.node != "L"]
    assert codes == ["unknown_output"]


@pytest.mark.parametrize("name", ["Chat Output", "ChatOutput", " Chat Output "])
def test_a_component_is_meant_by_the_name_that_people_see(name: str, catalogue: Catalogue):
    result = build(BARE_ECHO.replace("ChatOutput", name), catalogue)
    assert result.flow is not None
    assert result.flow.nodes[1].type == "ChatOutput"
    assert result.ids == build(BARE_ECHO, catalogue).ids


def test_node_ids_begin_with_the_type_when_a_spec_writes_a_short_name(catalogue: Catalogue):
    result = build(
        BARE_ECHO.replace("edges:", "  P: Prompt\nedges:\n  A.message -> P.x") + "config:\n  P.template: '{x}'\n",
        catalogue,
    )
    assert result.ids["P"].startswith("Prompt Template-")


def test_names_are_reported_when_a_spec_writes_what_people_see(catalogue: Catalogue):
    spec = (
        "nodes:\n  A: ChatInput\n  B: ChatOutput\nedges:\n  A.Chat Message -> B.Inputs\nconfig:\n  B.Sender Name: x\n"
    )
    told = {fault.code: fault.fix for fault in build(spec, catalogue).faults}
    assert "write 'message'" in told["unknown_output"]
    assert "write 'sender_name'" in told["unknown_field"]
