"""Matching and comparing flows: relabelling, reordering and layout change nothing, any real rewiring does."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.oracles.facts import Comparison, f1
from evals.oracles.matching import match
from evals.oracles.scored_flow import ScoredEdge, ScoredFlow, ScoredNode, scored_flow
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.layout.layers import layout
from flows.spec import build

TYPES = ("A", "B", "C")
shapes = st.builds(
    lambda kinds, values, ends: ScoredFlow(
        tuple(
            ScoredNode(str(n), TYPES[kind], {"v": value} if value else {})
            for n, (kind, value) in enumerate(zip(kinds, values, strict=False))
        ),
        frozenset(
            ScoredEdge(str(a), out, str(b), into)
            for a, out, b, into in ends
            if a != b and max(a, b) < min(len(kinds), len(values))
        ),
    ),
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
    st.lists(st.sampled_from(["", "1", "2"]), min_size=7, max_size=7),
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from("xy"), st.integers(0, 5), st.sampled_from("pq")), max_size=10
    ),
)


def relabelled(flow: ScoredFlow, random: Random) -> ScoredFlow:
    """The same flow with other ids, in another order."""
    names = [f"n{n}" for n in range(len(flow.nodes))]
    random.shuffle(names)
    other = flow.relabelled({node.id: name for node, name in zip(flow.nodes, names, strict=True)})
    return ScoredFlow(tuple(random.sample(other.nodes, len(other.nodes))), other.edges)


def scores(made: ScoredFlow, target: ScoredFlow, start: ScoredFlow | None = None) -> tuple[float, ...]:
    """Every F1 of a flow beside a right one."""
    comparison = Comparison.of(start or ScoredFlow((), frozenset()), made, target)
    return tuple(comparison.agreement(kind) for kind in ("node", "value", "edge"))


@settings(max_examples=60)
@given(shapes, st.integers(0, 2**32))
def test_a_relabelled_flow_is_the_same_flow(flow: ScoredFlow, seed: int) -> None:
    assert scores(relabelled(flow, Random(seed)), flow) == (1.0, 1.0, 1.0)  # noqa: S311  (a seed of a test)


@settings(max_examples=60)
@given(shapes, shapes, st.integers(0, 2**32))
def test_relabelling_changes_no_score(made: ScoredFlow, target: ScoredFlow, seed: int) -> None:
    random = Random(seed)  # noqa: S311  (a seed of a test)
    assert scores(relabelled(made, random), relabelled(target, random)) == pytest.approx(scores(made, target))


@settings(max_examples=60)
@given(shapes, st.data())
def test_a_rewiring_that_is_not_an_automorphism_lowers_a_score(flow: ScoredFlow, data: st.DataObject) -> None:
    if not flow.edges or len(flow.nodes) < 2:
        return
    link = data.draw(st.sampled_from(sorted(flow.edges, key=repr)))
    end = data.draw(
        st.sampled_from([node.id for node in flow.nodes if node.id not in (link.target, link.source)] or [""])
    )
    moved = ScoredEdge(link.source, link.output, end, link.input)
    if not end or moved in flow.edges:
        return
    rewired = ScoredFlow(flow.nodes, flow.edges - {link} | {moved})
    found = scores(rewired, flow)
    assert found == (1.0, 1.0, 1.0) or min(found) < 1.0
    if not isomorphic(rewired, flow):
        assert min(found) < 1.0


def isomorphic(left: ScoredFlow, right: ScoredFlow) -> bool:
    """Whether two small flows are the same but for their ids, found by trying everything."""
    from itertools import permutations

    for order in permutations(right.nodes):
        pairs = list(zip(left.nodes, order, strict=True))
        if all((a.type, a.values) == (b.type, b.values) for a, b in pairs):
            ids = {a.id: b.id for a, b in pairs}
            if left.relabelled(ids).edges == right.edges:
                return True
    return False


def test_many_twins_are_matched_by_their_neighbours() -> None:
    parts = tuple(ScoredNode(f"p{n}", "A", {}) for n in range(12))
    chain = ScoredFlow(parts, frozenset(ScoredEdge(f"p{n}", "x", f"p{n + 1}", "p") for n in range(11)))
    assert scores(relabelled(chain, Random(3)), chain) == (1.0, 1.0, 1.0)  # noqa: S311  (a seed of a test)
    broken = ScoredFlow(parts, frozenset(sorted(chain.edges, key=repr)[1:]))
    assert scores(broken, chain)[2] == pytest.approx(f1(10, 10, 11))


def test_types_are_never_mixed() -> None:
    one, other = (ScoredFlow((ScoredNode("1", kind, {}),), frozenset()) for kind in ("A", "B"))
    assert match(one, other) == {}


def test_order_and_layout_change_nothing(catalogue: Catalogue) -> None:
    spec = "nodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"
    flow = build(spec, catalogue).flow
    assert flow is not None
    raw = layout(flow).to_json()
    data = raw["data"]
    assert isinstance(data, dict)
    assert isinstance(data["nodes"], list)
    data["nodes"].reverse()
    for node in data["nodes"]:
        assert isinstance(node, dict)
        node["position"] = {"x": 9.0, "y": -7.0}
    assert scores(scored_flow(Flow.from_json(raw), catalogue), scored_flow(flow, catalogue)) == (1.0, 1.0, 1.0)


def test_an_f1_is_the_mean_of_precision_and_recall() -> None:
    assert f1(0, 0, 0) == 1.0
    assert f1(0, 3, 0) == 0.0
    assert f1(2, 4, 2) == pytest.approx(2 * 0.5 * 1.0 / 1.5)


def test_another_value_at_the_same_place_is_one_change_out_and_one_in() -> None:
    start = ScoredFlow((ScoredNode("1", "A", {"v": "1"}),), frozenset())
    made = ScoredFlow((ScoredNode("x", "A", {"v": "2"}),), frozenset())
    comparison = Comparison.of(start, made, start)
    assert {(sign, fact.value) for sign, fact in comparison.changes} == {("-", "1"), ("+", "2")}
    assert comparison.expected_changes == frozenset()
