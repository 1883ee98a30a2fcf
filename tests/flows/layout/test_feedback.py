"""An edge that leads back does not run across the steps of its loop, and a small edit moves little."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import add_component, connect, insert_between
from flows.layout.feedback import feedback_line
from flows.layout.layers import layout, positions
from flows.layout.sizes import GAP, ROW, WIDTH, node_height
from tests.shared import flow_texts

Built = Callable[[str], tuple[Flow, dict[str, str]]]
relaxed = settings(max_examples=40)


def loop_of(steps: int, after: int, sides: int) -> str:
    """A loop with so many steps, so many parsers after it, and so many texts that feed its steps."""
    names = [f"p{number}" for number in range(steps)]
    later = [f"d{number}" for number in range(after)]
    lines = ["nodes:", "  A: ChatInput", "  S: SplitText", "  L: LoopComponent", "  T: TypeConverterComponent"]
    lines += [f"  {name}: CombineText" for name in names] + [f"  {name}: ParserComponent" for name in later]
    lines += [f"  x{number}: TextInput" for number in range(min(sides, steps))]
    lines += ["  F: ParserComponent", "edges:", "  A.message -> S.data_inputs", "  S.dataframe -> L.data"]
    lines += ["  L.item -> F.input_data"]
    chain = ["F.parsed_text", *(f"{name}.combined_text" for name in names)]
    lines += [f"  {begin} -> {name}.text1" for begin, name in zip(chain, names, strict=False)]
    lines += [f"  x{number}.text -> {names[number]}.text2" for number in range(min(sides, steps))]
    lines += [f"  {chain[-1]} -> T.input_data", "  T.data_output -> L.item"]
    lines += [f"  L.done -> {name}.input_data" for name in later]
    return "\n".join(lines)


def crossed(flow: Flow) -> list[str]:
    """The components on which the way of an edge that leads back lies."""
    places = {node.id: node.position for node in flow.nodes}
    nodes = {node.id: node for node in flow.nodes}
    found: list[str] = []
    for edge in flow.edges:
        if not edge.is_feedback:
            continue
        way = feedback_line(nodes[edge.source], nodes[edge.target], places)
        for node in flow.nodes:
            x, y = node.position
            if node.id in (edge.source, edge.target) or not (way.end[0] < x + WIDTH and x < way.begin[0]):
                continue
            high, low = way.heights(x, x + WIDTH)
            if high < y + node_height(node) - GAP and y < low:
                found.append(node.id)
    return found


@relaxed
@given(st.integers(0, 6), st.integers(0, 3), st.integers(0, 3))
def test_the_way_back_is_free(built: Built, steps: int, after: int, sides: int):
    flow, _ = built(loop_of(steps, after, sides))
    assert crossed(layout(flow)) == []


@relaxed
@given(st.integers(0, 5), st.integers(1, 3), st.data())
def test_a_small_edit_moves_little(built: Built, catalogue: Catalogue, steps: int, after: int, data: st.DataObject):
    flow, ids = built(loop_of(steps, after, 1))
    flow = add_component(flow, catalogue, "ChatOutput", node_id="end").flow
    flow = connect(flow, catalogue, ids["d0"], "parsed_text", "end", "input_value").flow
    before, after_it = positions(flow), positions(add_component(flow, catalogue, "TextInput", node_id="new").flow)
    for node_id, (x, y) in before.items():
        assert after_it[node_id][0] == x
        assert abs(after_it[node_id][1] - y) <= 2 * ROW


@pytest.mark.parity("term-auto-layout")
def test_nothing_moves_when_a_component_is_added_or_inserted(built: Built, catalogue: Catalogue):
    flow, ids = built(flow_texts.LOOP)
    added = add_component(flow, catalogue, "TextInput").flow
    assert added.nodes[: len(flow.nodes)] == flow.nodes
    inserted = insert_between(flow, catalogue, "ParserComponent", ids["S"], ids["L"])
    assert {node.id: node.position for node in flow.nodes}.items() <= {
        node.id: node.position for node in inserted.flow.nodes
    }.items()


def test_an_inserted_component_stands_between_the_two_and_on_nothing(built: Built, catalogue: Catalogue):
    flow, ids = built(flow_texts.LOOP)
    flow = insert_between(flow, catalogue, "CombineText", ids["D"], ids["B"]).flow
    boxes = [(*node.position, node_height(node) - GAP) for node in flow.nodes]
    for index, (x, y, height) in enumerate(boxes):
        for left, top, tall in boxes[index + 1 :]:
            assert abs(x - left) >= WIDTH or y + height <= top or top + tall <= y
    new, start, end = flow.nodes[-1], flow.node(ids["D"]), flow.node(ids["B"])
    assert start is not None
    assert end is not None
    assert start.position[0] < new.position[0] < end.position[0]
