"""Fragments of a spec applied to a flow: all of it or nothing, one action a change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from flows.actions import apply_all, inverse
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError
from flows.spec import build
from flows.spec.fragment import parse_fragment
from flows.spec.patch import Patch, patch
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id

INSERT = """
nodes:
  shouter: Prompt Template
edges:
  Chat Input.message -> shouter.text
  shouter.prompt -> Chat Output.input_value
config:
  shouter.template: Shout {text}
"""


@pytest.fixture
def echo(catalogue: Catalogue) -> Flow:
    return flow_of(ECHO, catalogue)


def kinds(found: Patch) -> list[str]:
    return [action.kind for action in found.edit.actions]


def refused(flow: Flow, text: str, catalogue: Catalogue) -> list[tuple[str, int | None]]:
    with pytest.raises(EditError) as caught:
        patch(flow, text, catalogue)
    return [(fault.code, fault.line) for fault in caught.value.faults]


def test_a_component_is_put_between_two_others(echo: Flow, catalogue: Catalogue) -> None:
    found = patch(echo, INSERT, catalogue)
    flow = found.edit.flow
    new = flow.node(found.ids["shouter"])
    assert new is not None
    assert (new.type, new.display_name, new.value("template")) == ("Prompt Template", "Shouter", "Shout {text}")
    source, target = node_id(echo, "ChatInput"), node_id(echo, "ChatOutput")
    assert [edge.text for edge in flow.edges] == [
        f"{source}.message -> {new.id}.text",
        f"{new.id}.prompt -> {target}.input_value",
    ]
    assert kinds(found) == ["add_component", "connect", "disconnect", "connect"]
    assert found.replaced == (f"{source}.message -> {target}.input_value",)
    assert found.removals == (), "the one still leads to the other"
    assert patch(echo, "remove:\n  Chat Input -> Chat Output", catalogue).removals == ((source, target),)


def test_components_and_connections_are_removed(catalogue: Catalogue) -> None:
    flow = flow_of(LOUDER, catalogue)
    text = f"remove:\n  {node_id(flow, 'Prompt Template')}\nedges:\n  ChatInput.message -> ChatOutput.input_value"
    found = patch(flow, text, catalogue)
    assert [node.type for node in found.edit.flow.nodes] == ["ChatInput", "ChatOutput"]
    assert len(found.edit.flow.edges) == 1
    cut = patch(flow, "remove:\n  Chat Input -> Prompt Template", catalogue)
    assert kinds(cut) == ["disconnect"]
    assert len(cut.edit.flow.nodes) == 3


def test_values_names_and_types_of_existing_components_change(catalogue: Catalogue) -> None:
    flow = flow_of(LOUDER, catalogue)
    prompt, answer = node_id(flow, "Prompt Template"), node_id(flow, "ChatOutput")
    text = f'config:\n  {prompt}.template: "Whisper: {{text}}"\n  {answer}.clean_data: false  # as it is\n'
    found = patch(flow, f"{text}names:\n  {prompt}: Whisperer\n", catalogue)
    assert kinds(found) == ["configure", "configure", "amend"]
    assert found.edit.flow.node(prompt).value("template") == "Whisper: {text}"
    assert found.edit.flow.node(answer).value("clean_data") is False
    swapped = patch(flow, f"nodes:\n  {prompt}: CombineText\n", catalogue)
    assert swapped.removals == ((prompt,),)
    assert [node.type for node in swapped.edit.flow.nodes] == ["ChatInput", "CombineText", "ChatOutput"]


def test_ports_left_out_are_inferred(echo: Flow, catalogue: Catalogue) -> None:
    found = patch(echo, "nodes:\n  note: TextInput\n  out: ChatOutput\nedges:\n  note -> out", catalogue)
    assert found.edit.flow.edges[-1].text == f"{found.ids['note']}.text -> {found.ids['out']}.input_value"


def test_every_fault_is_named_with_its_line_and_the_words_of_the_fragment(echo: Flow, catalogue: Catalogue) -> None:
    text = (
        "nodes:\n  magic: MagicBox\n  joiner: CombineText\nedges:\n  joiner.nothing -> Chat Output.input_value\n"
        "  magic.out -> joiner.text1\nconfig:\n  joiner.wrong: 1\nremove:\n  Nobody\n"
    )
    assert refused(echo, text, catalogue) == snapshot(
        [
            ("unknown_type", 2),
            ("unknown_output", 5),
            ("unknown_field", 8),
            ("unknown_node", 10),
        ]
    )
    with pytest.raises(EditError) as caught:
        patch(echo, text, catalogue)
    assert "joiner" in str(caught.value)
    assert "CombineText-" not in str(caught.value)


def test_two_new_connections_into_one_input_are_a_fault(echo: Flow, catalogue: Catalogue) -> None:
    text = "nodes:\n  a: TextInput\n  b: TextInput\nedges:\n  a.text -> ChatOutput.input_value\n"
    assert refused(echo, f"{text}  b.text -> ChatOutput.input_value", catalogue) == [("input_taken", 6)]


def test_a_name_of_several_components_is_a_fault_that_lists_their_ids(echo: Flow, catalogue: Catalogue) -> None:
    flow = patch(echo, "nodes:\n  ab: ChatOutput\nedges:\n  ChatInput.message -> ab.input_value", catalogue).edit.flow
    with pytest.raises(EditError) as caught:
        patch(flow, "remove:\n  Chat Output", catalogue)
    [fault] = caught.value.faults
    assert all(node.id in fault.fix for node in flow.nodes if node.type == "ChatOutput")


@pytest.mark.parametrize("text", ["", "nothing here", "names:\n  no colon", "nodes:\n  A"])
def test_text_that_is_no_fragment_is_refused(text: str, echo: Flow, catalogue: Catalogue) -> None:
    assert refused(echo, text, catalogue)


def test_what_is_there_already_changes_nothing(echo: Flow, catalogue: Catalogue) -> None:
    text = "edges:\n  ChatInput.message -> ChatOutput.input_value\nnames:\n  ChatInput: Chat Input"
    assert patch(echo, text, catalogue).edit.actions == ()


def test_a_block_may_hold_lines_that_look_like_sections(echo: Flow, catalogue: Catalogue) -> None:
    text = "nodes:\n  p: Prompt Template\nconfig:\n  p.template: |\n    nodes:\n    remove:\n      p\n"
    found = patch(echo, text, catalogue)
    assert found.edit.flow.node(found.ids["p"]).value("template") == "nodes:\nremove:\n  p"


def test_ids_that_a_spec_cannot_write_are_understood(catalogue: Catalogue) -> None:
    echo = flow_of(ECHO, catalogue)
    source = node_id(echo, "ChatInput")
    odd = "ext:chat:Input@official-a1B2c"
    from flows.edits.node_ids import relabel

    flow = relabel(echo, {source: odd})
    found = patch(flow, f"config:\n  {odd}.sender_name: Ada\nremove:\n  {odd}.message -> ChatOutput", catalogue)
    assert found.edit.flow.node(odd).value("sender_name") == "Ada"
    assert found.edit.flow.edges == ()


@settings(max_examples=40)
@given(data=st.data())
def test_the_actions_of_a_fragment_lead_to_its_flow_and_back(data: st.DataObject, catalogue: Catalogue) -> None:
    flow = flow_of(LOUDER, catalogue)
    names = [node.id for node in flow.nodes]
    lines = ["nodes:", "  extra: CombineText"]
    if data.draw(st.booleans()):
        lines += ["edges:", f"  {names[0]}.message -> extra.text1"]
    if data.draw(st.booleans()):
        lines += ["config:", f"  {names[2]}.sender_name: {data.draw(st.sampled_from(['Ada', 'Bo', '7']))}"]
    if data.draw(st.booleans()):
        lines += ["remove:", f"  {data.draw(st.sampled_from(names[1:2]))}"]
    found = patch(flow, "\n".join(lines), catalogue)
    assert apply_all(flow, found.edit.actions) == found.edit.flow
    back = [inverse(action) for action in reversed(found.edit.actions)]
    assert apply_all(found.edit.flow, back) == flow


def test_a_fragment_knows_where_each_line_stands() -> None:
    fragment, faults = parse_fragment("remove:\n  A\n\n  A.x -> B.y\nnodes:\n  C: ChatInput\nnames:\n  C: Ask")
    assert not faults
    assert [(gone.node, gone.line) for gone in fragment.removed] == [("A", 2)]
    assert [(cut.source, cut.line) for cut in fragment.cut] == [("A", 4)]
    assert [(node.id, node.line) for node in fragment.spec.nodes] == [("C", 6)]
    assert [(name.name, name.line) for name in fragment.names] == [("Ask", 8)]


def test_the_same_fragment_gives_the_same_flow(echo: Flow, catalogue: Catalogue) -> None:
    assert patch(echo, INSERT, catalogue) == patch(echo, INSERT, catalogue)
    assert build(ECHO, catalogue).flow == echo
