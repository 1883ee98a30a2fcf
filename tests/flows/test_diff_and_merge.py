"""Fingerprints see what a flow does and nothing else; merging adds without touching."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from flows.actions import apply_all, inverse
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import configure, disconnect
from flows.fingerprints import fingerprint
from flows.merge import merge

Built = Callable[[str], tuple[Flow, dict[str, str]]]
SPEC = """\
name: Two texts
nodes:
  A: ChatInput
  C: CombineText
  D: CombineText
  B: ChatOutput
edges:
  A.message -> C.text1
  C.combined_text -> D.text1
  A.message -> D.text2
  D.combined_text -> B.input_value
config:
  C.text2: x
"""


def relabelled(flow: Flow) -> Flow:
    text = json.dumps(flow.to_json(), ensure_ascii=False)
    for number, node in enumerate(flow.nodes):
        text = text.replace(node.id, f"{node.type}-zz{number}")
    document: dict[str, Any] = json.loads(text)
    document["data"]["nodes"].reverse()
    document["data"]["edges"].reverse()
    document["name"] = "other"
    for node in document["data"]["nodes"]:
        node["position"] = {"x": 1, "y": 1}
    return Flow.from_json(document)


def test_fingerprint_is_blind_to_layout_ids_and_order(built: Built):
    flow, _ = built(SPEC)
    assert fingerprint(relabelled(flow)) == fingerprint(flow)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("C.text2: x", "C.text2: y"),
        ("C.text2: x", "D.delimiter: x"),
        ("A.message -> D.text2", "C.combined_text -> D.text2"),
        ("A.message -> C.text1", "A.message -> C.delimiter"),
        ("  A.message -> D.text2\n", ""),
        ("C: CombineText", "C: TextOperations"),
    ],
)
def test_fingerprint_changes_when_what_the_flow_does_changes(
    before: str, after: str, catalogue: Catalogue, built: Built
):
    flow, _ = built(SPEC)
    if "TextOperations" in after:
        changed = Flow.from_json(
            json.loads(json.dumps(flow.to_json()).replace('"type": "CombineText"', '"type": "Other"'))
        )
    else:
        changed, _ = built(SPEC.replace(before, after))
    assert fingerprint(changed) != fingerprint(flow)


def test_rewiring_between_alike_nodes_is_seen(built: Built, catalogue: Catalogue):
    flow, ids = built(SPEC.replace("config:\n  C.text2: x\n", ""))
    edit = disconnect(flow, ids["A"], "message", ids["D"], "text2")
    assert fingerprint(edit.flow) != fingerprint(flow)
    same = configure(flow, catalogue, ids["D"], {"delimiter": " "}).flow
    assert fingerprint(same) == fingerprint(flow)


@pytest.mark.parity("ADR-MCP-029", "smoke-proposal-add-twice", "smoke-proposal-edges")
def test_canvas_is_untouched_when_a_proposal_is_merged_twice(built: Built):
    flow, _ = built(SPEC)
    once = merge(flow, flow)
    twice = merge(once.flow, flow)
    assert twice.flow.nodes[:8] == once.flow.nodes
    assert once.flow.nodes[:4] == flow.nodes
    assert once.flow.edges[:4] == flow.edges
    ids = [node.id for node in twice.flow.nodes]
    assert len(set(ids)) == len(ids) == 12
    left = max(node.position[0] for node in flow.nodes)
    for node in once.flow.nodes[4:]:
        assert node.id.rpartition("-")[0] == node.type
        assert node.raw["data"]["id"] == node.id
        assert node.position[0] > left
    added = once.flow.edges[4:]
    assert {edge.source for edge in added} | {edge.target for edge in added} == {
        node.id for node in once.flow.nodes[4:]
    }
    assert all(edge.source in edge.raw["sourceHandle"] and edge.target in edge.id for edge in added)
    assert fingerprint(
        Flow.from_json({"nodes": [n.raw for n in once.flow.nodes[4:]], "edges": [e.raw for e in added]})
    ) == (fingerprint(flow))


def test_merge_can_be_undone(built: Built):
    flow, _ = built(SPEC)
    edit = merge(flow, flow)
    assert apply_all(edit.flow, [inverse(action) for action in reversed(edit.actions)]) == flow


@pytest.mark.parity("smoke-proposal-empty-canvas")
def test_proposal_is_taken_as_it_is_when_the_canvas_is_empty(built: Built):
    flow, _ = built(SPEC)
    merged = merge(Flow.empty(), flow).flow
    assert (merged.nodes, merged.edges) == (flow.nodes, flow.edges)
