"""A diff leads from one flow to the other, whatever they are, in actions that say what a person would."""

import copy
import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.actions import apply_all
from flows.catalogue import Catalogue
from flows.diff import diff, same_up_to_order
from flows.document import Flow
from flows.edits import configure, connect, disconnect, duplicate, remove_component, rename
from flows.fingerprints import fingerprint
from tests.shared import flow_texts

Built = Callable[[str], tuple[Flow, dict[str, str]]]
relaxed = settings(max_examples=120)

leaves = st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.sampled_from(["", "x", "connect_other_models"]))
values = st.one_of(leaves, st.lists(leaves, max_size=2), st.dictionaries(st.sampled_from("ab"), leaves, max_size=2))
fields = st.fixed_dictionaries(
    {},
    optional={
        "value": values,
        "type": st.sampled_from(["str", "prompt", "model"]),
        "show": st.booleans(),
    },
)
definitions = st.fixed_dictionaries(
    {},
    optional={
        "template": st.dictionaries(st.sampled_from(["a", "b", "c"]), st.one_of(fields, leaves), max_size=3),
        "outputs": st.lists(st.fixed_dictionaries({"name": st.sampled_from("pq")}), max_size=2),
        "tool_mode": st.booleans(),
        "display_name": st.sampled_from(["One", "Two"]),
        "custom_fields": st.dictionaries(st.sampled_from("ab"), st.lists(st.sampled_from("ab"), max_size=2)),
    },
)


@st.composite
def documents(draw: st.DrawFn) -> Flow:
    """Any document that is a flow: shared ids, edges to nowhere and odd keys included."""
    nodes = [
        {
            "id": node_id,
            "position": {"x": draw(st.integers(0, 2)), "y": 0},
            "data": {"id": node_id, "type": draw(st.sampled_from(["T", "U"])), "node": draw(definitions)},
            **draw(st.fixed_dictionaries({}, optional={"selected": st.booleans(), "width": st.integers(0, 2)})),
        }
        for node_id in draw(st.lists(st.sampled_from("mnopq"), max_size=5, unique=draw(st.booleans())))
    ]
    ends = st.sampled_from("mnop")
    edge = st.builds(lambda a, b, i: {"id": f"e{i}", "source": a, "target": b}, ends, ends, st.integers(0, 2))
    data: dict[str, Any] = {"nodes": nodes, "edges": draw(st.lists(edge, max_size=4))}
    data |= draw(st.fixed_dictionaries({}, optional={"viewport": values}))
    if draw(st.booleans()):
        return Flow.from_json(data)
    return Flow.from_json({"data": data, **draw(st.dictionaries(st.sampled_from(["name", "tags"]), values))})


@relaxed
@given(documents(), documents())
def test_diff_leads_from_any_flow_to_any_other(old: Flow, new: Flow):
    actions = diff(old, new)
    assert same_up_to_order(apply_all(old, actions), new)
    assert (actions == ()) == alike(old, new)


def alike(old: Flow, new: Flow) -> bool:
    """Whether two flows are the same; the order counts where nodes share an id, so that only the first is found."""
    if all(len({node.id for node in flow.nodes}) == len(flow.nodes) for flow in (old, new)):
        return same_up_to_order(old, new)
    return json.dumps(old.raw, sort_keys=True) == json.dumps(new.raw, sort_keys=True)


def test_another_order_alone_is_not_a_difference(built: Built):
    flow = built(flow_texts.TOOLS)[0]
    turned = flow.to_json()
    for part in ("nodes", "edges"):
        turned["data"][part].reverse()
    assert diff(flow, Flow.from_json(turned)) == ()
    edges = [{"id": "e1", "source": "m", "target": target} for target in "mn"]
    node = {"id": "m", "position": {"x": 0, "y": 0}, "data": {"id": "m", "type": "T", "node": {}}}
    old, new = (Flow.from_json({"data": {"nodes": [node], "edges": each}}) for each in (edges, edges[::-1]))
    assert diff(old, new) == ()


@relaxed
@given(documents())
def test_nothing_differs_between_a_flow_and_itself(flow: Flow):
    assert diff(flow, Flow.from_json(copy.deepcopy(flow.to_json()))) == ()


@pytest.mark.parametrize("old", [flow_texts.BARE_ECHO, flow_texts.LOOP, flow_texts.TOOLS, flow_texts.PROMPT])
@pytest.mark.parametrize("new", [flow_texts.BARE_ECHO, flow_texts.LOOP, flow_texts.TOOLS, flow_texts.PROMPT])
def test_diff_between_real_flows_is_exact_and_never_replaces_the_whole(old: str, new: str, built: Built):
    before, after = built(old)[0], built(new)[0]
    actions = diff(before, after)
    assert apply_all(before, actions).to_json() == after.to_json()
    assert "set_flow" not in {action.kind for action in actions}


def test_diff_says_what_an_edit_did(built: Built, catalogue: Catalogue):
    flow, ids = built(flow_texts.PROMPT)
    changed = configure(flow, catalogue, ids["P"], {"template": "Only {text} and {other}"}).flow
    assert [action.kind for action in diff(flow, changed)] == ["configure"]
    changed = rename(flow, ids["P"], "Shouter").flow
    assert [action.kind for action in diff(flow, changed)] == ["amend"]
    changed = remove_component(flow, ids["B"]).flow
    assert [action.kind for action in diff(flow, changed)] == ["remove_component"]
    changed = duplicate(flow, ids["P"]).flow
    assert [action.kind for action in diff(flow, changed)] == ["add_component"]
    changed = disconnect(flow, ids["A"]).flow
    assert [action.kind for action in diff(flow, changed)] == ["disconnect"]
    renamed = Flow.from_json({**flow.to_json(), "name": "Other"})
    assert [action.kind for action in diff(flow, renamed)] == ["set_detail"]
    flow, ids = built(flow_texts.TOOLS)
    apart = disconnect(flow, ids["C"]).flow
    step = connect(disconnect(apart, ids["G"]).flow, catalogue, ids["C"], "result", ids["B"], "input_value").flow
    assert [action.kind for action in diff(apart, step)] == ["disconnect", "set_tool_mode", "connect"]


def test_fingerprint_of_a_long_chain_is_fast_enough_to_take_and_sees_every_link(built: Built, catalogue: Catalogue):
    names = [f"c{number}" for number in range(300)]
    links = [f"  {a}.combined_text -> {b}.text1" for a, b in pairwise(names)]
    flow, ids = built("\n".join(["nodes:", *(f"  {name}: CombineText" for name in names), "edges:", *links]))
    moved = disconnect(flow, ids["c150"], None, ids["c151"]).flow
    moved = connect(moved, catalogue, ids["c150"], "combined_text", ids["c151"], "text2").flow
    assert fingerprint(moved) != fingerprint(flow)
