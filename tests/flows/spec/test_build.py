"""Spec text: what it may say, what it builds, and that printing says it again."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.fingerprints import fingerprint
from flows.spec import build
from tests.shared.flow_texts import BARE_ECHO, LOOP, TOOLS

Built = Callable[[str], tuple[Flow, dict[str, str]]]
relaxed = settings(max_examples=80)


def value_of(flow: Flow, node_id: str, field: str) -> Any:
    node = flow.node(node_id)
    assert node is not None
    return node.value(field)


@pytest.mark.parity("term-build-flow-from-spec")
def test_built_flow_has_the_form_of_langflows_builder(built: Built):
    flow, ids = built(f"name: Echo\ndescription: says it again\n{BARE_ECHO}")
    document = flow.to_json()
    assert {key: value for key, value in document.items() if key != "data"} == {
        "name": "Echo",
        "description": "says it again",
    }
    data: Any = document["data"]
    assert data["viewport"] == {"x": 0, "y": 0, "zoom": 1}
    node = data["nodes"][0]
    assert {key: value for key, value in node.items() if key not in {"data", "position"}} == {
        "id": ids["A"],
        "type": "genericNode",
        "selected": False,
    }
    assert {key: value for key, value in node["data"].items() if key != "node"} == {
        "id": ids["A"],
        "type": "ChatInput",
        "showNode": True,
    }
    output = node["data"]["node"]["outputs"][0]
    assert (output["hidden"], output["options"], output["required_inputs"]) == (False, None, None)
    source, target = ids["A"], ids["B"]
    left = f"{{œdataTypeœ:œChatInputœ,œidœ:œ{source}œ,œnameœ:œmessageœ,œoutput_typesœ:[œMessageœ]}}"
    types = "[œDataœ,œJSONœ,œDataFrameœ,œTableœ,œMessageœ]"
    right = f"{{œfieldNameœ:œinput_valueœ,œidœ:œ{target}œ,œinputTypesœ:{types},œtypeœ:œotherœ}}"
    assert data["edges"] == [
        {
            "animated": False,
            "className": "",
            "data": {
                "sourceHandle": {
                    "dataType": "ChatInput",
                    "id": source,
                    "name": "message",
                    "output_types": ["Message"],
                },
                "targetHandle": {
                    "fieldName": "input_value",
                    "id": target,
                    "inputTypes": ["Data", "JSON", "DataFrame", "Table", "Message"],
                    "type": "other",
                },
            },
            "id": f"reactflow__edge-{source}{left}-{target}{right}",
            "selected": False,
            "source": source,
            "sourceHandle": left,
            "target": target,
            "targetHandle": right,
        }
    ]


def test_equal_specs_give_equal_flows_and_ids_keep_the_type(built: Built):
    first, ids = built(BARE_ECHO)
    second, _ = built(BARE_ECHO)
    assert first == second
    assert ids["A"].startswith("ChatInput-")
    assert len(ids["A"]) == len("ChatInput-") + 5


def test_catalogue_is_unchanged_when_a_flow_is_built(catalogue: Catalogue, catalogue_json: dict[str, Any]):
    build(BARE_ECHO + "config:\n  B.sender_name: Bot\n", catalogue)
    assert {part.type: part.raw for part in catalogue} == catalogue_json["components"]


@pytest.mark.parametrize(
    "spec",
    [
        BARE_ECHO.replace(" -> ", "->"),
        BARE_ECHO.replace(" -> ", "  ->   "),
        "# a comment\n" + BARE_ECHO.replace("ChatInput", "ChatInput  # takes the message"),
        BARE_ECHO.replace("\n", "\r\n"),
        "\ufeff" + BARE_ECHO,
        "```\n" + BARE_ECHO + "```\n",
        "\n".join("    " + line for line in BARE_ECHO.split("\n")),
        "\n".join(line.strip() for line in BARE_ECHO.split("\n")),
        BARE_ECHO.replace("ChatInput", '"ChatInput"'),
        BARE_ECHO.replace("  A", "  - A"),
        "edges:\n  A.message -> B.input_value # back\nnodes:\n  A: ChatInput\n\n  B: ChatOutput",
    ],
)
def test_same_flow_is_built_when_only_the_writing_differs(spec: str, built: Built):
    assert fingerprint(built(spec)[0]) == fingerprint(built(BARE_ECHO)[0])


@pytest.mark.parametrize(
    ("config", "field", "value"),
    [
        ("B.sender_name: 007", "sender_name", "007"),
        ("B.sender_name: 1_000", "sender_name", "1_000"),
        ("B.sender_name: nan", "sender_name", "nan"),
        ("B.sender_name: true", "sender_name", "true"),
        ("B.sender_name: none", "sender_name", "none"),
        ("B.sender_name: C# and # more", "sender_name", "C# and # more"),
        ('B.sender_name: " spaced \\n"', "sender_name", " spaced \n"),
        ("B.sender_name: 'it''s'  # said", "sender_name", "it's"),
        ('B.sender_name: "a" or "b"', "sender_name", '"a" or "b"'),
        ("B.sender_name:", "sender_name", ""),
        ("B.sender_name:Bot", "sender_name", "Bot"),
        ("B.clean_data: false  # plain", "clean_data", False),
        ("B.sender: user", "sender", "User"),
        (
            "B.data_template: |\n    nodes:\n      A.x: 1\n    # no comment\n\n    last {text}\n",
            "data_template",
            "nodes:\n  A.x: 1\n# no comment\n\nlast {text}",
        ),
        ("B.data_template: |\n  flat {text}\n  lines\n", "data_template", "flat {text}\nlines"),
        ("B.data_template: one\n    two\n", "data_template", "one\ntwo"),
    ],
)
def test_value_is_read_as_it_was_written(config: str, field: str, value: Any, built: Built):
    flow, ids = built(f"{BARE_ECHO}config:\n  {config}")
    assert value_of(flow, ids["B"], field) == value


@pytest.mark.parametrize(
    ("config", "value"),
    [
        ('U.urls: ["https://a.org", "https://b.org"]', ["https://a.org", "https://b.org"]),
        ("U.urls:\n    - https://a.org\n    # the other\n    - https://b.org", ["https://a.org", "https://b.org"]),
        ("U.urls:\n  - https://a.org\n  - https://b.org", ["https://a.org", "https://b.org"]),
        ("U.urls: [\n    https://a.org,\n    https://b.org\n  ]", ["https://a.org", "https://b.org"]),
        ("U.urls: https://a.org", ["https://a.org"]),
    ],
)
def test_list_is_read_in_every_form(config: str, value: Any, built: Built):
    flow, ids = built(f"nodes:\n  U: URLComponent\nconfig:\n  {config}\n  U.timeout: 9\n")
    assert value_of(flow, ids["U"], "urls") == value
    assert value_of(flow, ids["U"], "timeout") == 9


def test_table_is_read_as_yaml(built: Built):
    flow, ids = built(
        "nodes:\n  S: StructuredOutput\nconfig:\n  S.output_schema:\n    - name: city\n      type: str\n"
        "    - name: age\n"
    )
    assert value_of(flow, ids["S"], "output_schema") == [{"name": "city", "type": "str"}, {"name": "age"}]


def test_hidden_field_is_shown_when_it_is_set(built: Built):
    flow, ids = built("nodes:\n  O: Operations\nconfig:\n  O.operation: Case Conversion\n  O.case_type: uppercase\n")
    node = flow.node(ids["O"])
    assert node is not None
    assert node.value("operation") == [{"icon": "type", "name": "Case Conversion"}]
    field = node.field("case_type")
    assert field is not None
    assert (field["value"], field["show"]) == ("uppercase", True)


def test_file_path_is_set_when_a_file_is_named(built: Built):
    flow, ids = built("nodes:\n  F: File\nconfig:\n  F.path: notes.txt\n")
    node = flow.node(ids["F"])
    assert node is not None
    field = node.field("path")
    assert field is not None
    assert field["value"] == field["file_path"] == ["notes.txt"]


def test_loop_feedback_enters_the_output_and_pins_the_converter(built: Built):
    flow, ids = built(LOOP)
    back = flow.edges[4]
    assert back.is_feedback
    assert (back.target, back.target_port) == (ids["L"], "item")
    converter = flow.node(ids["T"])
    assert converter is not None
    assert converter.raw["data"] == {**converter.raw["data"], "selected_output": "data_output"}
    assert converter.value("output_type") == "JSON"


def test_tool_edge_makes_the_source_a_tool(built: Built):
    flow, ids = built(TOOLS)
    tool = flow.node(ids["C"])
    assert tool is not None
    assert tool.tool_mode
    assert [output["name"] for output in tool.outputs] == ["component_as_tool"]


@relaxed
@given(st.text(alphabet="ABx:.->|#'\"[]{} \n\tnodesgcfi", max_size=120) | st.text())
def test_any_text_is_read_without_a_crash(catalogue: Catalogue, text: str):
    result = build(text, catalogue)
    assert result.ok or any(fault.is_error for fault in result.faults)
    assert all(fault.message and fault.fix for fault in result.faults)


def test_blocks_hold_any_line_of_a_spec(built: Built):
    lines = [
        "nodes:",
        "  A: ChatInput",
        "edges:",
        "A.message -> B.input_value",
        "config:",
        "B.sender_name: x",
        "",
        "# c",
    ]
    block = "".join(f"    {line}\n" if line else "\n" for line in lines)
    flow, ids = built(f"{BARE_ECHO}config:\n  B.data_template: |\n{block}  B.sender_name: Bot\n")
    assert value_of(flow, ids["B"], "data_template") == "\n".join(lines)
    assert value_of(flow, ids["B"], "sender_name") == "Bot"


@pytest.mark.parametrize(
    ("line", "edges"),
    [
        ("A -> P -> B", ["A.message -> P.x", "P.prompt -> B.input_value"]),
        ("A.message->P.x->B", None),
        ("A=>P→B.input_value", ["A.message -> P.x", "P.prompt -> B.input_value"]),
        ("- A -> P.x  # first\n  P.prompt -> B", ["A.message -> P.x", "P.prompt -> B.input_value"]),
    ],
)
def test_arrows_may_leave_ports_out_and_stand_in_a_row(line: str, edges: list[str] | None, catalogue: Catalogue):
    spec = "nodes:\n  A: ChatInput\n  P: Prompt Template\n  B: ChatOutput\nedges:\n  "
    result = build(f"{spec}{line}\nconfig:\n  P.template: '{{x}}'\n", catalogue)
    if edges is None:
        assert [fault.code for fault in result.faults if fault.code == "bad_edge"] == ["bad_edge"]
        return
    assert result.flow is not None, result.faults
    names = {node_id: name for name, node_id in result.ids.items()}
    built_edges = result.flow.edges
    assert (
        sorted(f"{names[e.source]}.{e.source_port} -> {names[e.target]}.{e.target_port}" for e in built_edges) == edges
    )
