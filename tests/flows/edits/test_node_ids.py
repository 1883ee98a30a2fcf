"""Relabelling: a flow under other node ids is the same flow."""

from flows.catalogue import Catalogue
from flows.diff import diff
from flows.document import Flow
from flows.edits.node_ids import relabel
from flows.fingerprints import fingerprint
from flows.spec import build

SPEC = """
name: A banana
nodes:
  chat: ChatInput
  prompt: Prompt Template
  answer: ChatOutput
edges:
  chat.message -> prompt.a
  prompt.prompt -> answer.input_value
config:
  prompt.template: "a, name and a source: {a}"
"""


def flow_of(catalogue: Catalogue) -> Flow:
    flow = build(SPEC, catalogue).flow
    assert flow is not None
    return flow


def test_ids_that_are_part_of_other_texts_are_renamed_alone(catalogue: Catalogue) -> None:
    flow = flow_of(catalogue)
    short = relabel(flow, dict(zip([node.id for node in flow.nodes], ("a", "name", "source"), strict=True)))
    assert [node.id for node in short.nodes] == ["a", "name", "source"]
    assert short.name == "A banana"
    assert short.nodes[1].value("template") == "a, name and a source: {a}"
    assert fingerprint(short) == fingerprint(flow)
    back = relabel(short, {"a": flow.nodes[0].id, "name": flow.nodes[1].id, "source": flow.nodes[2].id})
    assert diff(flow, back) == ()


def test_ids_can_be_swapped_and_the_edges_follow(catalogue: Catalogue) -> None:
    flow = relabel(flow_of(catalogue), {})
    first, last = flow.nodes[0].id, flow.nodes[2].id
    swapped = relabel(flow, {first: last, last: first})
    assert [(edge.source, edge.target) for edge in swapped.edges] == [
        (last, flow.nodes[1].id),
        (flow.nodes[1].id, first),
    ]
    assert fingerprint(swapped) == fingerprint(flow)
