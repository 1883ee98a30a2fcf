"""Documents damaged in any place are refused with the place, or read; what was read can then be worked with."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.action_json import action_to_json
from flows.actions import apply_all
from flows.catalogue import Catalogue
from flows.checks import check
from flows.describe.diagrams import ascii_graph, mermaid_graph
from flows.describe.summary import canvas_summary, describe_io
from flows.diff import diff
from flows.document import Flow, FlowFormatError
from flows.edits.new_nodes import new_node
from flows.fields.assignment import settings as set_values
from flows.fingerprints import fingerprint
from flows.layout.layers import layout
from flows.merge import merge
from flows.spec import build, to_spec
from tests.flows.exports import EXPORTS
from tests.shared.flow_texts import BARE_ECHO, LOOP, LOUDER, PROMPT, TOOLS

Place = tuple[str | int, ...]
Document = tuple[dict[str, Any], list[Place]]
"""A document with all its places, the outer ones first."""
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1e300, 10**30, "", "x", "nodes", "œ{", "{œaœ:1}", "a|b|c"),
    *([], {}, [[]], [None], [{}], {"a": 1}, {"value": None}, ["x"], {"id": 1}, float("nan"), object()),
)
WRITTEN = (
    *ODD[:-2],
    "true",
    "[1,2]",
    '{"a":1}',
    "- a\n- b",
    "a: b",
    "{x} {y",
    "{{x}}",
    "[{",
    {"name": ["x"]},
    [{"key": 1}],
)


@pytest.fixture(scope="module")
def documents(catalogue: Catalogue) -> list[Document]:
    flows = [build(spec, catalogue).flow for spec in (BARE_ECHO, LOUDER, LOOP, TOOLS, PROMPT)]
    every = [*(flow.to_json() for flow in flows if flow is not None), *EXPORTS.values()]
    return [(one, sorted(places(one), key=lambda place: (len(place), str(place)))) for one in every]


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Every place inside a document but its sources'."""
    if place:
        yield place
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        if key != "code":
            yield from places(member, (*place, key))


def holds(holder: Any, step: str | int) -> bool:
    """Whether there is such a place."""
    if isinstance(holder, list):
        return isinstance(step, int) and step < len(cast("list[Any]", holder))
    return isinstance(holder, dict) and step in holder


def damaged(document: Document, data: st.DataObject) -> dict[str, Any]:
    """The document with up to three places removed or put odd things into."""
    whole, every = document
    changed = copy.deepcopy(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from(every))
        holder: Any = changed
        for step in way:
            holder = holder[step] if holds(holder, step) else None
        if not holds(holder, last):
            continue  # an earlier change took the place away
        if data.draw(st.integers(0, 4)):
            holder[last] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
        else:
            del holder[last]
    return changed


def read(document: dict[str, Any]) -> Flow | FlowFormatError:
    """The flow, or why it is none."""
    try:
        return Flow.from_json(document)
    except FlowFormatError as error:
        return error


@settings(max_examples=300)
@given(st.data())
def test_damaged_document_is_refused_with_the_place_or_can_be_worked_with(
    catalogue: Catalogue, documents: list[Document], data: st.DataObject
):
    whole = data.draw(st.sampled_from(documents))
    document = damaged(whole, data)
    flow = read(document)
    if isinstance(flow, FlowFormatError):
        assert flow.path.startswith("$")
        assert flow.message
        assert flow.fix
        return
    assert flow.to_json() == document
    works: list[Callable[[], object]] = [
        lambda: check(flow, catalogue),
        lambda: describe_io(flow),
        lambda: canvas_summary(flow),
        lambda: (ascii_graph(flow), mermaid_graph(flow), fingerprint(flow), layout(flow)),
        lambda: build(to_spec(flow, catalogue), catalogue),
        lambda: to_spec(flow),
    ]
    for work in works:
        work()
    other = Flow.from_json(whole[0])
    assert len(merge(other, flow).flow.nodes) >= len(other.nodes)
    actions = diff(other, flow)
    assert apply_all(other, actions) == flow
    assert all(action_to_json(action) for action in actions)


@settings(max_examples=300)
@given(st.data())
def test_odd_value_is_refused_or_taken_whole(catalogue: Catalogue, data: st.DataObject):
    part = data.draw(st.sampled_from(sorted(catalogue, key=lambda part: part.type)))
    names = data.draw(st.lists(st.sampled_from(sorted(part.template)), min_size=1, max_size=3, unique=True))
    node = new_node(part, "x")
    outcome = set_values(node, {name: data.draw(st.sampled_from(WRITTEN)) for name in names}, part)
    if outcome.faults:
        assert outcome.node is node
        assert all(fault.message and fault.field for fault in outcome.faults)
    Flow.from_json({"nodes": [outcome.node.raw], "edges": []})
