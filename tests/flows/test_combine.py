"""Changes of two people to one flow: merged by node, and clashes named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.actions import Configure, Connect
from flows.catalogue import Catalogue
from flows.diff import same_up_to_order
from flows.document import Flow
from flows.edits import add_component, configure, connect, disconnect, remove_component, rename
from flows.merge import combine
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tools.undo_stack import undo_edit


@pytest.fixture
def base(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


def edited(flow: Flow, catalogue: Catalogue, steps: list[str]) -> Flow:
    """A flow after some edits, as far as they are possible."""
    prompt = next((node.id for node in flow.nodes if node.type == "Prompt Template"), None)
    for step in steps:
        if step == "add":
            flow = add_component(flow, catalogue, "ChatInput").flow
        elif step == "remove" and flow.nodes:
            flow = remove_component(flow, flow.nodes[-1].id).flow
        elif step == "text" and prompt and flow.node(prompt):
            flow = configure(flow, catalogue, prompt, {"template": f"{len(flow.nodes)}: {{text}}"}).flow
        elif step == "rename" and flow.nodes:
            flow = rename(flow, flow.nodes[0].id, "First").flow
        elif step == "cut" and flow.edges:
            edge = flow.edges[0]
            flow = disconnect(flow, edge.source, edge.source_port, edge.target, edge.target_port).flow
    return flow


STEPS = st.lists(st.sampled_from(["add", "remove", "text", "rename", "cut"]), max_size=4)


@given(STEPS)
def test_a_change_on_one_side_alone_is_kept_as_it_is(catalogue: Catalogue, steps: list[str]) -> None:
    base = flow_of(LOUDER, catalogue)
    changed = edited(base, catalogue, steps)
    assert combine(base, base, changed).flow == changed
    alone = combine(base, changed, base)
    assert (same_up_to_order(alone.flow, changed), alone.clashes) == (True, ())


@given(STEPS, STEPS)
def test_whatever_two_people_do_the_result_is_a_flow_and_nothing_is_silent(
    catalogue: Catalogue, mine: list[str], yours: list[str]
) -> None:
    base = flow_of(LOUDER, catalogue)
    ours, theirs = edited(base, catalogue, mine), edited(base, catalogue, yours)
    combined = combine(base, ours, theirs)
    ids = [node.id for node in combined.flow.nodes]
    assert len(ids) == len(set(ids))
    assert all(edge.source in ids and edge.target in ids for edge in combined.flow.edges)
    if same_up_to_order(ours, theirs):
        assert (same_up_to_order(combined.flow, theirs), combined.clashes) == (True, ())


def test_changes_of_different_nodes_are_both_kept(base: Flow, catalogue: Catalogue) -> None:
    prompt = node_id(base, "Prompt Template")
    ours = configure(base, catalogue, prompt, {"template": "Whisper: {text}"}).flow
    theirs = rename(add_component(base, catalogue, "ChatOutput").flow, base.nodes[0].id, "Start").flow
    combined = combine(base, ours, theirs)
    node = combined.flow.node(prompt)
    assert node is not None
    assert node.value("template") == "Whisper: {text}"
    assert combined.flow.nodes[0].display_name == "Start"
    assert len(combined.flow.nodes) == 4
    assert combined.clashes == ()


def test_the_same_field_changed_differently_is_a_clash_and_theirs_stays(base: Flow, catalogue: Catalogue) -> None:
    prompt = node_id(base, "Prompt Template")
    ours = configure(base, catalogue, prompt, {"template": "Whisper: {text}"}).flow
    theirs = configure(base, catalogue, prompt, {"template": "Sing: {text}"}).flow
    combined = combine(base, ours, theirs)
    assert combined.flow == theirs
    [clash] = combined.clashes
    assert isinstance(clash, Configure)
    assert (clash.node, clash.field, clash.new) == (prompt, "template", "Whisper: {text}")


def test_a_component_that_the_others_removed_takes_no_edge(base: Flow, catalogue: Catalogue) -> None:
    prompt = node_id(base, "Prompt Template")
    more = add_component(base, catalogue, "ChatOutput").flow
    ours = connect(more, catalogue, prompt, "prompt", more.nodes[-1].id, "input_value").flow
    combined = combine(base, ours, remove_component(base, prompt).flow)
    assert combined.flow.node(prompt) is None
    assert len(combined.flow.nodes) == 3, "what fits is merged all the same"
    [clash] = combined.clashes
    assert isinstance(clash, Connect)


def test_undo_takes_back_a_turn_even_if_another_component_was_added_since(base: Flow, catalogue: Catalogue) -> None:
    ours = add_component(base, catalogue, "ChatInput")
    since = add_component(ours.flow, catalogue, "ChatOutput").flow
    undone = undo_edit(since, ours.actions).flow
    assert [node.type for node in undone.nodes] == [*(node.type for node in base.nodes), "ChatOutput"]
