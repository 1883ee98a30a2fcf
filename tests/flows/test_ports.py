"""Which ports may be connected."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.describe.tool_names import snake_case, tool_names
from flows.document import Flow, Node
from flows.edits import add_component, connect
from flows.edits.new_nodes import new_node
from flows.json_values import Json, JsonObject
from flows.ports import (
    PortError,
    feedback_ports,
    find_input,
    find_output,
    handle_text,
    input_ports,
    supports_tool_mode,
    types_compatible,
    wire,
)

KINDS = ["Data", "JSON", "DataFrame", "Table", "Message", "Tool"]


def node(catalogue: Catalogue, kind: str, node_id: str = "") -> Node:
    part = catalogue.get(kind)
    assert part is not None
    return new_node(part, node_id or kind)


@pytest.mark.parametrize(
    ("gives", "takes", "fits"),
    [
        (["Message"], ["Message"], True),
        (["Data"], ["JSON"], True),
        (["JSON"], ["Data"], True),
        (["DataFrame"], ["Table"], True),
        (["Table"], ["DataFrame", "Message"], True),
        (["Data"], ["DataFrame"], False),
        (["Message"], ["Data"], False),
        ([], ["Data"], False),
        (["Data"], [], False),
    ],
)
def test_types_fit_with_their_new_names(gives: list[str], takes: list[str], fits: bool):
    assert types_compatible(gives, takes) is fits


@given(st.lists(st.sampled_from(KINDS)), st.lists(st.sampled_from(KINDS)))
def test_fitting_does_not_depend_on_the_direction(gives: list[str], takes: list[str]):
    assert types_compatible(gives, takes) == types_compatible(takes, gives)


def test_handle_is_written_as_langflow_does():
    assert handle_text({"id": 'a"é', "b": [1, None, True], "a": {}}) == "{œaœ:{},œbœ:[1,null,true],œidœ:œa\\œ\\u00e9œ}"


def test_fields_without_input_types_are_no_ports(catalogue: Catalogue):
    router = node(catalogue, "ConditionalRouter")
    names = {port.name for port in input_ports(router)}
    assert {"input_text", "match_text"} <= names
    assert not names & {"operator", "code", "max_iterations"}


def test_loop_takes_messages_back(catalogue: Catalogue):
    ports = feedback_ports(node(catalogue, "LoopComponent"))
    assert [(port.name, port.types) for port in ports] == [("item", ("Data", "Message"))]


@pytest.mark.parametrize(
    ("source", "out", "target", "into", "fix"),
    [
        ("URLComponent", "page_results", "CombineText", "text1", "ParserComponent"),
        ("ChatInput", "message", "ParserComponent", "input_data", "TypeConverterComponent.data_output"),
        ("CalculatorComponent", "result", "Agent", "tools", "CalculatorComponent.component_as_tool"),
        ("ChatInput", "message", "Agent", "tools", "component_as_tool"),
        ("LanguageModelComponent", "text_output", "Agent", "model", "model_output"),
        ("LanguageModelComponent", "model_output", "CombineText", "text1", "text_output"),
    ],
)
@pytest.mark.parity("error-type-mismatch")
def test_way_out_is_named_when_types_do_not_fit(
    catalogue: Catalogue, source: str, out: str, target: str, into: str, fix: str
):
    with pytest.raises(PortError) as caught:
        wire(node(catalogue, source), out, node(catalogue, target), into)
    assert caught.value.fault.code == "type_mismatch"
    assert fix in caught.value.fault.fix


def test_edge_into_a_setting_is_refused(catalogue: Catalogue):
    with pytest.raises(PortError) as caught:
        wire(node(catalogue, "ChatInput"), "message", node(catalogue, "ConditionalRouter"), "operator")
    assert caught.value.fault.code == "not_an_input"
    assert "match_text" in caught.value.fault.fix


def test_nearest_port_is_named_when_one_is_misspelt(catalogue: Catalogue):
    with pytest.raises(PortError) as caught:
        find_input(node(catalogue, "CombineText"), "txt1")
    assert "'text1'" in caught.value.fault.fix
    with pytest.raises(PortError) as caught:
        find_output(node(catalogue, "CombineText"), "combine_text")
    assert "'combined_text'" in caught.value.fault.fix


def test_component_is_a_tool_only_when_a_field_or_the_class_says_so(catalogue: Catalogue):
    assert supports_tool_mode(node(catalogue, "CalculatorComponent"))
    assert supports_tool_mode(node(catalogue, "RunFlow"))
    assert not supports_tool_mode(node(catalogue, "ChatInput"))


def test_old_node_can_be_a_tool_when_the_catalogue_says_so(catalogue: Catalogue):
    old = Node({"id": "R", "data": {"id": "R", "type": "RunFlow", "node": {"template": {}, "outputs": []}}})
    assert not supports_tool_mode(old)
    assert supports_tool_mode(old, catalogue)


def test_list_input_takes_several_edges(built: Callable[[str], tuple[Flow, dict[str, str]]]):
    flow, _ = built(
        "nodes:\n  A: ChatInput\n  G: Agent\n  C: CalculatorComponent\n  U: URLComponent\n  B: ChatOutput\nedges:\n"
        "  A.message -> G.input_value\n  C.component_as_tool -> G.tools\n  U.component_as_tool -> G.tools\n"
        "  G.response -> B.input_value\n"
    )
    assert [edge.target_port for edge in flow.edges].count("tools") == 2


def test_edge_turns_a_model_field_to_its_connection(built: Callable[[str], tuple[Flow, dict[str, str]]]):
    flow, ids = built(
        "nodes:\n  A: ChatInput\n  M: LanguageModelComponent\n  G: Agent\nedges:\n  A -> G\n  M -> G.model\n"
        "config:\n  M.model: openai:gpt-4o-mini\n"
    )
    [edge] = [edge for edge in flow.edges if edge.target_port == "model"]
    assert (edge.source, edge.source_port) == (ids["M"], "model_output")


def test_connected_model_field_is_set_to_its_connection_before_the_edge_is_made(catalogue: Catalogue):
    flow = add_component(Flow.empty(), catalogue, "LanguageModelComponent", node_id="m").flow
    flow = add_component(flow, catalogue, "Agent", node_id="g").flow
    kinds = [action.kind for action in connect(flow, catalogue, "m", "model_output", "g", "model").actions]
    assert kinds == ["select_output", "set_connection_mode", "connect"]


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("RandomMenuItem", "random_menu_item"),
        ("HTTPClient", "http_client"),
        ("S3Bucket", "s3_bucket"),
        ("MyXMLParser", "my_xml_parser"),
        ("Already_snake", "already_snake"),
    ],
)
@pytest.mark.parity("base-term-generic-tool-name", "term-generic-tool-name", "base-smoke-generic-tool")
def test_class_names_become_tool_names_with_their_acronyms(name: str, snake: str):
    assert snake_case(name) == snake


def own(method: str, *, second: bool = False, code: str = "") -> Node:
    """A component of someone's own that can be a tool."""
    outputs: list[Json] = [{"name": "out", "method": method, "types": ["Message"], "tool_mode": True}]
    if second:
        outputs.append({"name": "more", "method": "run", "types": ["Message"]})
    outputs.append({"name": "component_as_tool", "method": "to_toolkit", "types": ["Tool"], "tool_mode": True})
    source = code or "from lfx.custom import Component\nclass DrinkPrice(Component):\n    pass\n"
    template: JsonObject = {"code": {"type": "code", "value": source}}
    definition: JsonObject = {"template": template, "outputs": outputs, "display_name": "Drink Price"}
    return Node({"id": "DrinkPrice-1", "data": {"id": "DrinkPrice-1", "type": "CustomComponent", "node": definition}})


@pytest.mark.parity("ADR-026", "ADR-MCP-044", "base-scenario-generic-method-name")
def test_tool_is_named_after_its_method_or_its_class_when_the_method_says_nothing(catalogue: Catalogue):
    empty = Catalogue({})
    assert tool_names(own("get_price"), empty) == ["get_price"]
    assert tool_names(own("build_output"), empty) == ["drink_price"]
    assert tool_names(own("get price!"), empty) == ["get-price-"]
    assert tool_names(own("process", second=True), empty) == ["process", "run"]
    assert tool_names(own("x", code="class A(Component):\n    def _get_tools(self): ..."), empty) == []
    assert tool_names(node(catalogue, "CalculatorComponent"), catalogue) == ["evaluate_expression"]


def test_names_given_by_a_person_win_and_what_is_switched_off_is_left_out():
    rows: list[Json] = [{"name": "prices", "tags": ["get_price"], "status": True}, {"tags": ["run"], "status": False}]
    tool = own("get_price", second=True)
    template: JsonObject = {**tool.template, "tools_metadata": {"type": "tools", "value": rows}}
    data: JsonObject = {"id": "t", "type": "CustomComponent", "node": {**tool.definition, "template": template}}
    assert tool_names(Node({"id": "t", "data": data}), Catalogue({})) == ["prices"]
