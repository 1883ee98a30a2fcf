"""Printing flows as spec text: building the text gives the flow again, and what it cannot say is reported."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError, configure
from flows.fingerprints import fingerprint
from flows.spec import build, print_spec, to_spec
from tests.shared.flow_texts import BARE_ECHO, LOOP, PROMPT, TOOLS

Built = Callable[[str], tuple[Flow, dict[str, str]]]
relaxed = settings(max_examples=80)
OPERATIONS = """\
nodes:
  A: ChatInput
  O: Operations
  R: SmartRouter
  B: ChatOutput
  C: TextOutput
edges:
  A.message -> R.input_text
  R.category_1_result -> O.text_input
  O.message_output -> B.input_value
  R.default_result -> C.input_value
config:
  R.model: openai:gpt-4o-mini
  R.routes: [{"route_category": "only"}]
  R.enable_else_output: true
  O.operation: Text Replace
  O.search_pattern: a
  O.replacement_text: b
"""
SPECS = [BARE_ECHO, LOOP, TOOLS, PROMPT, OPERATIONS, "nodes:\n  O: Operations\nconfig:\n  O.operation: Word Count\n"]


@pytest.mark.parametrize("spec", SPECS)
def test_same_flow_is_built_when_a_flow_is_printed(spec: str, built: Built, catalogue: Catalogue):
    flow, _ = built(spec)
    for text in (to_spec(flow, catalogue), to_spec(flow)):
        again, _ = built(text)
        assert fingerprint(again) == fingerprint(flow)
        assert (again.name, again.description) == (flow.name, flow.description)
    text = to_spec(flow, catalogue)
    assert to_spec(built(text)[0], catalogue) == text


@relaxed
@given(st.data())
def test_same_flow_is_built_when_any_values_are_printed(catalogue: Catalogue, data: st.DataObject):
    start = build(data.draw(st.sampled_from(SPECS)), catalogue)
    assert start.flow is not None
    flow = start.flow
    for _ in range(data.draw(st.integers(1, 5))):
        node = flow.node(data.draw(st.sampled_from([node.id for node in flow.nodes])))
        assert node is not None
        names = [name for name in sorted(node.template) if not node.template[name].get("password")]
        name = data.draw(st.sampled_from(names))
        value = data.draw(
            st.text()
            | st.text("ab #:|'\"\n\t-[]{}.> \r\x85", max_size=12)
            | st.sampled_from(["{a} {b}", "A.x: 1", "nodes:", "```", "# x", "null", "- a\n- b"])
            | st.integers()
            | st.lists(st.text(), max_size=3)
            | st.dictionaries(st.text(), st.text() | st.integers(), max_size=2)
        )
        try:
            flow = configure(flow, catalogue, node.id, {name: value}).flow
        except EditError:
            continue
    said = print_spec(flow, catalogue)
    assert said.text == to_spec(flow, catalogue)
    again = build(said.text, catalogue)
    if said.faults:
        return  # such as a node whose only edge went with a variable of its template; a spec refuses it
    assert again.flow is not None, (again.faults, said.text)
    assert fingerprint(again.flow) == fingerprint(flow), said.text
    assert to_spec(again.flow, catalogue) == said.text


@relaxed
@given(st.permutations([1, 2, 3]), st.integers(0, 3))
def test_order_of_nodes_and_indentation_do_not_matter(catalogue: Catalogue, order: list[int], indent: int):
    lines = {1: "A: ChatInput", 2: "P: Prompt Template", 3: "B: ChatOutput"}
    nodes = "\n".join(" " * indent + lines[number] for number in order)
    spec = (
        f"nodes:\n{nodes}\nedges:\n  A.message -> P.x\n  P.prompt -> B.input_value\nconfig:\n  P.template: hi {{x}}\n"
    )
    result = build(spec, catalogue)
    assert result.flow is not None
    straight = build(spec.replace(nodes, "\n".join(lines.values())), catalogue)
    assert straight.flow is not None
    assert fingerprint(result.flow) == fingerprint(straight.flow)


def test_secrets_are_not_printed(catalogue: Catalogue, built: Built):
    flow, _ = built(
        "nodes:\n  M: LanguageModelComponent\nconfig:\n  M.api_key: hunter2\n"
        "  M.system_message: the key is sk-abcdefghijklmnop123456\n"
    )
    for text in (to_spec(flow, catalogue), to_spec(flow)):
        assert "hunter2" not in text
        assert "sk-abc" not in text
        assert text.count("***REDACTED***") == 2
        assert build(text, catalogue).ok


def with_blanks(draw: st.DrawFn, spec: str) -> str:
    """The same spec with other blanks, empty lines and comments, outside of blocks and quotes."""
    written: list[str] = []
    for line in spec.split("\n"):
        begin, arrow, end = line.partition(" -> ")
        gap = draw(st.sampled_from(["", " ", "   "]))
        text = f"{begin}{gap}->{gap}{end}" if arrow else line
        is_text = re.match(r"  O\.\w+: ", line)  # in a text, a # is part of it
        comment = draw(st.sampled_from(["", "  # said", " "])) if text.strip() and not is_text else ""
        written += [*draw(st.sampled_from([[], [""], ["# aside"], ["   "]])), text.rstrip() + comment]
    return "\n".join(written)


@relaxed
@given(st.data())
def test_blanks_and_comments_outside_of_blocks_and_quotes_do_not_matter(catalogue: Catalogue, data: st.DataObject):
    spec = data.draw(st.sampled_from([BARE_ECHO, LOOP, TOOLS, OPERATIONS]))
    plain, other = build(spec, catalogue), build(data.draw(st.composite(with_blanks)(spec)), catalogue)
    assert plain.flow is not None
    assert other.flow is not None, other.faults
    assert fingerprint(plain.flow) == fingerprint(other.flow)


@relaxed
@given(st.data())
def test_order_of_lines_within_a_section_does_not_matter(catalogue: Catalogue, data: st.DataObject):
    spec = data.draw(st.sampled_from([BARE_ECHO, LOOP, TOOLS, OPERATIONS]))
    sections = [
        part.split("\n")
        for part in spec.rstrip().replace("\nedges:", "\n\0edges:").replace("\nconfig:", "\n\0config:").split("\n\0")
    ]
    order = data.draw(st.permutations(sections))
    mixed = ["\n".join([lines[0], *data.draw(st.permutations(lines[1:]))]) for lines in order]
    plain, other = build(spec, catalogue), build("\n".join(mixed), catalogue)
    assert plain.flow is not None
    assert other.flow is not None, other.faults
    assert fingerprint(plain.flow) == fingerprint(other.flow)


def test_what_a_spec_cannot_say_is_reported(built: Built, catalogue: Catalogue):
    flow, ids = built(TOOLS + "  G.api_key: hunter2\n")
    document: Any = flow.to_json()
    nodes = document["data"]["nodes"]
    by_id = {node["id"]: node["data"]["node"] for node in nodes}
    by_id[ids["B"]]["template"]["code"]["value"] += "\nx = 1"
    by_id[ids["B"]]["display_name"] = "Reply"
    by_id[ids["A"]]["template"]["session_id"] |= {"value": "SESSION", "load_from_db": True}
    note = {"id": "note-1", "type": "noteNode", "data": {"id": "note-1", "type": "note", "node": {"description": "hi"}}}
    odd = {"id": "Odd-1", "type": "genericNode", "data": {"id": "Odd-1", "type": "Odd", "node": {"template": {}}}}
    document["data"]["nodes"] += [note, odd]
    document["data"]["edges"].append({"source": "Odd-1", "target": "gone"})
    said = print_spec(Flow.from_json(document), catalogue)
    assert {(fault.code, fault.node, fault.field) for fault in said.faults} == {
        ("unsaid_secret", ids["G"], "api_key"),
        ("unsaid_secret", ids["A"], "session_id"),
        ("unsaid_code", ids["B"], "code"),
        ("unsaid_name", ids["B"], None),
        ("unsaid_note", "note-1", None),
        ("unsaid_type", "Odd-1", None),
        ("unsaid_edge", "Odd-1", None),
    }
    assert all(fault.severity == "warning" and fault.fix for fault in said.faults)
    assert "hunter2" not in said.text + "".join(fault.message for fault in said.faults)
    assert "from the variable SESSION" in said.text


def test_a_flow_that_its_text_would_not_build_again_is_reported(built: Built, catalogue: Catalogue):
    flow, _ = built("nodes:\n  A: TextInput\n  T: TextOutput\n  P: CombineText\nedges:\n  A -> P.text2\n  P -> T\n")
    assert print_spec(flow, catalogue).faults == ()
    loose = flow.with_parts(edges=[])
    [fault] = print_spec(loose, catalogue).faults
    assert fault.code == "unsaid_flow"


def test_a_value_of_a_hidden_field_is_not_said_since_the_engine_ignores_it(built: Built, catalogue: Catalogue):
    flow, ids = built("nodes:\n  O: Operations\nconfig:\n  O.operation: Case Conversion\n  O.case_type: title\n")
    flow = configure(flow, catalogue, ids["O"], {"operation": "Word Count"}).flow
    assert "case_type" not in to_spec(flow, catalogue)
    assert print_spec(flow, catalogue).faults == ()


@pytest.mark.parametrize("name", ["A\x1b[31mB", "bell\x07", "C\x9bD\nE", "del\x7f", "\x00", "one\ttab\nand lines"])
def test_control_characters_are_escaped_in_the_text_and_come_back(name: str, catalogue: Catalogue) -> None:
    flow = build(BARE_ECHO, catalogue).flow
    assert flow is not None
    named = Flow({**flow.raw, "name": name})
    text = to_spec(named)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    again = build(text, catalogue).flow
    assert again is not None
    assert again.name == name
